@testable import CarpoolReachability

/// Datagrams of rtnetlink, at any address: nothing is read outside them, and both ways of reading see the same
/// messages.
enum RoutesTarget {
    static func run(_ input: UnsafeRawBufferPointer) {
        let messages = read(input)
        // One byte further on, so that no number lies where the processor would like it.
        let shifted = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count + 1, alignment: 8)
        defer { shifted.deallocate() }
        UnsafeMutableRawBufferPointer(rebasing: shifted[1...]).copyMemory(from: input)
        require(read(UnsafeRawBufferPointer(rebasing: shifted[1...])) == messages, "the address makes a difference")
        var types = 0
        RouteMessageParser.forEachType(in: input) { _ in types += 1 }
        require(types == messages.count, "\(types) types of \(messages.count) messages")
        require(messages.count <= input.count / 16 + 1, "more messages than headers")
    }

    private static func read(_ datagram: UnsafeRawBufferPointer) -> [NumberedRouteMessage] {
        var messages: [NumberedRouteMessage] = []
        RouteMessageParser.forEach(in: datagram) { messages.append($0) }
        return messages
    }
}
