/// Decodes a body piece by piece, with one buffer of output and one between any two codings: memory does not grow
/// with the decoded size.
final class ContentDecoder {
    /// One coding and its input: the output of the coding that was applied after it.
    private struct Stage {
        let codec: Codec
        var input: [UInt8] = []
        var position = 0
    }

    private static let outputBytes = 16_384
    private static let stageBytes = 16_384

    /// The last applied coding first; the others read its output.
    private var stages: [Stage]
    private var output = [UInt8](repeating: 0, count: ContentDecoder.outputBytes)
    private var outputCount = 0
    /// How many bytes of the current piece were decoded.
    private var taken = 0

    /// A decoder for codings in the order in which they were applied.
    init(_ codings: [ContentCoding]) { stages = codings.reversed().map { Stage(codec: Codec($0)) } }

    /// Decodes more of a piece, unless there is output already. Returns false when all of the piece is decoded and
    /// taken.
    func fill(from piece: UnsafeRawBufferPointer) throws(TransportError) -> Bool {
        guard outputCount == 0 else { return true }
        outputCount = try pull(stages.count - 1, &output, from: piece)
        return outputCount > 0
    }

    /// Calls the body with the output that was not dropped yet.
    func withOutput<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        output.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<outputCount])) }
    }

    /// Drops the output, which the delegate has accepted.
    func dropOutput() { outputCount = 0 }

    /// Ends the current piece: the next one is decoded from its first byte.
    func finishPiece() { taken = 0 }

    /// How the decoded codings have ended, when no piece follows: the worst of them, with its name.
    var end: (end: Codec.End, coding: ContentCoding)? {
        let worst = stages.first { $0.codec.end == .cut } ?? stages.first { $0.codec.end == .unchecked }
        return worst.map { ($0.codec.end, $0.codec.coding) }
    }

    /// Produces output of a stage; reads its input from the stage before, or from the piece. Returns 0 at the end of
    /// the piece.
    private func pull(
        _ index: Int, _ buffer: inout [UInt8], from piece: UnsafeRawBufferPointer
    ) throws(TransportError) -> Int {
        while true {
            let step = index == 0 ? try run(piece, &buffer) : try run(stage: index, &buffer)
            if step.written > 0 { return step.written }
            guard index > 0 else {
                if step.read == 0 { return 0 }
                continue
            }
            guard stages[index].position == stages[index].input.count || step.read == 0 else { continue }
            var input = [UInt8](repeating: 0, count: ContentDecoder.stageBytes)
            let count = try pull(index - 1, &input, from: piece)
            guard count > 0 else { return 0 }
            let rest = stages[index].input[stages[index].position...]
            stages[index].input = Array(rest + input[..<count])
            stages[index].position = 0
        }
    }

    private func run(_ piece: UnsafeRawBufferPointer, _ buffer: inout [UInt8]) throws(TransportError) -> Codec.Step {
        let codec = stages[0].codec
        let input = UnsafeRawBufferPointer(rebasing: piece[taken...])
        let result = buffer.withUnsafeMutableBytes { buffer in
            Result { () throws(TransportError) in try codec.run(input, into: buffer) }
        }
        let step = try result.get()
        taken &+= step.read
        return step
    }

    private func run(stage index: Int, _ buffer: inout [UInt8]) throws(TransportError) -> Codec.Step {
        let stage = stages[index]
        let result = stage.input.withUnsafeBytes { input in
            let rest = UnsafeRawBufferPointer(rebasing: input[stage.position...])
            return buffer.withUnsafeMutableBytes { buffer in
                Result { () throws(TransportError) in try stage.codec.run(rest, into: buffer) }
            }
        }
        let step = try result.get()
        stages[index].position &+= step.read
        return step
    }
}
