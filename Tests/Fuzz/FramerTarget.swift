internal import CarpoolJSON
@testable import CarpoolRPC

/// Any split of a stream into pieces yields the same messages and errors, and at most one message is kept.
enum FramerTarget {
    /// Small, so that inputs reach the limits.
    private static let limits: FramingLimits = {
        var limits = FramingLimits(messageBytes: 200)
        limits.depth = 8
        limits.headerBytes = 64
        return limits
    }()

    static func run(_ input: UnsafeRawBufferPointer) {
        var choices = Choices(input)
        let sizes = (0..<4).map { _ in choices.number(below: 40) + 1 }
        let stream = choices.rest
        let whole = events(of: stream, cutInto: [max(stream.count, 1)])
        require(whole == events(of: stream, cutInto: [1]), "byte by byte is different")
        require(whole == events(of: stream, cutInto: sizes), "pieces of \(sizes) bytes are different")
        for case .message(let message) in whole {
            require(message.bytes.count <= limits.messageBytes, "a message over the limit")
        }
    }

    private static func events(of stream: UnsafeRawBufferPointer, cutInto sizes: [Int]) -> [FramerEvent] {
        var framer = MessageFramer(limits: limits)
        var events: [FramerEvent] = []
        var (position, turn) = (0, 0)
        while position < stream.count {
            let end = min(stream.count, position + sizes[turn % sizes.count])
            framer.append(UnsafeRawBufferPointer(rebasing: stream[position..<end]))
            while let event = framer.next() { events.append(event) }
            require(framer.bufferedBytes <= limits.messageBytes + 3, "\(framer.bufferedBytes) bytes are kept")
            (position, turn) = (end, turn + 1)
        }
        if let event = framer.finish() { events.append(event) }
        require(framer.bufferedBytes == 0, "bytes are left at the end")
        return events
    }
}
