/// Undoes the codings of a body, piece by piece, with one buffer of output and one between any two codings: whatever a body decodes to, it takes
/// no more memory.
final class ContentDecoder {
    /// What a coding reads: the output of the one that was applied after it.
    private struct Stage {
        let codec: Codec
        var input: [UInt8] = []
        var position = 0
    }

    private static let outputBytes = 16_384
    private static let stageBytes = 16_384

    /// The last coding that was applied first; the others read what it gives.
    private var stages: [Stage]
    private var output = [UInt8](repeating: 0, count: ContentDecoder.outputBytes)
    private var outputCount = 0
    /// How much of the present piece was read.
    private var taken = 0

    /// A decoder for codings in the order in which they were applied.
    init(_ codings: [ContentCoding]) { stages = codings.reversed().map { Stage(codec: Codec($0)) } }

    /// Decodes more of a piece, unless there is output already. Gives false when all of the piece is decoded and taken.
    func fill(from piece: UnsafeRawBufferPointer) throws(TransportError) -> Bool {
        guard outputCount == 0 else { return true }
        outputCount = try pull(stages.count - 1, &output, from: piece)
        return outputCount > 0
    }

    /// What is decoded and not taken yet.
    func withOutput<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        output.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<outputCount])) }
    }

    /// The output was taken.
    func dropOutput() { outputCount = 0 }

    /// The piece is read to its end; the next one is another.
    func finishPiece() { taken = 0 }

    /// Has a stage give output; reads what it needs from the stage before, or from the piece. Gives 0 when the piece is at its end.
    private func pull(
        _ index: Int, _ room: inout [UInt8], from piece: UnsafeRawBufferPointer
    ) throws(TransportError) -> Int {
        while true {
            let step = index == 0 ? try run(piece, &room) : try run(stage: index, &room)
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

    private func run(_ piece: UnsafeRawBufferPointer, _ room: inout [UInt8]) throws(TransportError) -> Codec.Step {
        let codec = stages[0].codec
        let input = UnsafeRawBufferPointer(rebasing: piece[taken...])
        let result = room.withUnsafeMutableBytes { room in
            Result { () throws(TransportError) in try codec.run(input, into: room) }
        }
        let step = try result.get()
        taken &+= step.read
        return step
    }

    private func run(stage index: Int, _ room: inout [UInt8]) throws(TransportError) -> Codec.Step {
        let stage = stages[index]
        let result = stage.input.withUnsafeBytes { input in
            let rest = UnsafeRawBufferPointer(rebasing: input[stage.position...])
            return room.withUnsafeMutableBytes { room in
                Result { () throws(TransportError) in try stage.codec.run(rest, into: room) }
            }
        }
        let step = try result.get()
        stages[index].position &+= step.read
        return step
    }
}
