internal import CarpoolSystem
internal import Glibc

/// Queries the kernel over rtnetlink. It answers within the call, so that nothing waits.
///
/// It has a separate socket: on the notification socket, an answer could be lost among notifications.
final class KernelNetwork: NetworkView {
    private let socket: NetlinkSocket
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: KernelNetwork.bufferBytes, alignment: 16)
    private var sequence: UInt32 = 0

    /// The kernel fills at most 32 KiB of a dump into one datagram.
    private static let bufferBytes = 32_768
    /// Maximum number of retries of a dump during which something changed; after that the next notification corrects
    /// it.
    private static let attempts = 4
    /// Maximum number of interfaces: the few that a machine's traffic uses have lower numbers.
    static let maximumLinks = 4_096
    /// Maximum number of addresses, which bounds the memory of a snapshot to about a megabyte.
    static let maximumAddresses = 16_384

    init() throws(SystemError) { socket = try NetlinkSocket(groups: [], receiveBufferBytes: 0) }

    deinit { buffer.deallocate() }

    func interfaces() throws(SystemError) -> (links: [NetworkLink], addresses: [InterfaceAddress]) {
        var links: [NetworkLink] = []
        try dump(RouteRequest.links(sequence:), restart: { links = [] }) { message in
            if case .link(let link) = message, links.count < KernelNetwork.maximumLinks { links.append(link) }
        }
        var addresses: [InterfaceAddress] = []
        try dump(RouteRequest.addresses(sequence:), restart: { addresses = [] }) { message in
            guard case .address(let address) = message, addresses.count < KernelNetwork.maximumAddresses else { return }
            addresses.append(address)
        }
        return (links, addresses)
    }

    func route(to address: IPAddress, interface: Int?) throws(SystemError) -> RouteAnswer {
        sequence &+= 1
        try socket.send(RouteRequest.route(to: address, interface: interface, sequence: sequence))
        var answer: RouteAnswer?
        while answer == nil {
            try receive { message in
                switch message.message {
                case .route(let route): answer = .route(route)
                case .failure(let code): answer = .refused(code)
                default: break
                }
            }
        }
        return answer ?? .refused(EBADMSG)
    }

    private func dump(
        _ request: (UInt32) -> [UInt8], restart: () -> Void, each: (RouteMessage) -> Void
    ) throws(SystemError) {
        for _ in 0..<KernelNetwork.attempts {
            restart()
            sequence &+= 1
            try socket.send(request(sequence))
            var (isOver, isInterrupted, failure) = (false, false, Int32(0))
            while !isOver {
                try receive { message in
                    if message.isInterrupted { isInterrupted = true }
                    switch message.message {
                    case .done: isOver = true
                    case .failure(let code): (isOver, failure) = (true, code)
                    default: each(message.message)
                    }
                }
            }
            guard failure == 0 else { throw SystemError(code: failure, operation: "dump", subject: "AF_NETLINK") }
            if !isInterrupted { return }
        }
    }

    /// Calls the body with each answer to the current request; answers to an earlier one are ignored.
    private func receive(_ body: (NumberedRouteMessage) -> Void) throws(SystemError) {
        guard case .datagram(let count) = try socket.read(into: buffer) else {
            throw SystemError(code: EAGAIN, operation: "recvfrom", subject: "AF_NETLINK")
        }
        RouteMessageParser.forEach(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) { message in
            if message.sequence == sequence { body(message) }
        }
    }
}
