import CarpoolHTTP

/// The bytes of a body, which calls back in the middle: when half of it was read, and before the next byte is read.
final class AnnouncedBody: BodySource {
    var onReady: () -> Void = {}
    let canRestart = true
    let mayWait = false
    private let bytes: [UInt8]
    private let willContinue: () -> Void
    private var position = 0
    private var half: Int { bytes.count / 2 }

    init(_ bytes: [UInt8], willContinue: @escaping () -> Void) {
        self.bytes = bytes
        self.willContinue = willContinue
    }

    var lengthBytes: Int64? { Int64(bytes.count) }

    func close() {}

    func restart() { position = 0 }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyReading {
        guard position < bytes.count else { return .end }
        if position == half { willContinue() }
        let count = min(buffer.count, (position < half ? half : bytes.count) - position)
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return .bytes(count)
    }
}
