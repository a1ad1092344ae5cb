internal import CarpoolSystem
internal import Glibc

/// Finds routes where rtnetlink is forbidden: connecting a datagram socket makes the kernel look up the route without
/// sending a packet.
final class DatagramNetwork: NetworkView {
    /// Any port; nothing is sent to it. Port 9 discards its input (RFC 863).
    private static let port: UInt16 = 9

    func interfaces() throws(SystemError) -> (links: [NetworkLink], addresses: [InterfaceAddress]) { ([], []) }

    func route(to address: IPAddress, interface: Int?) throws(SystemError) -> RouteAnswer {
        let isV4 = address.family == .v4
        let fd = socket(isV4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { return .refused(errno) }
        let descriptor = FileDescriptor(owning: fd)
        // struct sockaddr_in and sockaddr_in6: family, port, then the address at 4 or, after the flow label, at 8.
        var bytes = [UInt8](repeating: 0, count: isV4 ? 16 : 28)
        let offset = isV4 ? 4 : 8
        bytes.withUnsafeMutableBytes { room in
            room.storeBytes(of: sa_family_t(isV4 ? AF_INET : AF_INET6), as: sa_family_t.self)
            room.storeBytes(of: DatagramNetwork.port.bigEndian, toByteOffset: 2, as: UInt16.self)
            room[offset...].copyBytes(from: address.bytes)
            if let interface, !isV4 {
                room.storeBytes(of: UInt32(truncatingIfNeeded: interface), toByteOffset: 24, as: UInt32.self)
            }
        }
        let connected = DatagramNetwork.withAddress(of: &bytes) { connect(descriptor.raw, $0, $1) }
        guard connected == 0 else { return .refused(errno) }
        let named = DatagramNetwork.withAddress(of: &bytes) { pointer, length in
            var length = length
            return getsockname(descriptor.raw, pointer, &length)
        }
        let source = named == 0 ? IPAddress(bytes: bytes[offset..<(offset + address.bytes.count)]) : nil
        return .route(KernelRoute(interface: nil, source: source))
    }

    private static func withAddress(
        of bytes: inout [UInt8], _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        bytes.withUnsafeMutableBytes { room in
            guard let base = room.baseAddress else { return -1 }
            return body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(room.count))
        }
    }
}
