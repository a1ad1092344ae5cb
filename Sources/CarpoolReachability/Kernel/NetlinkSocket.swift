internal import CLinux
internal import CarpoolSystem
internal import Glibc

/// A socket that speaks rtnetlink(7) with the kernel of this network namespace.
final class NetlinkSocket {
    /// The result of one read.
    enum Reading {
        /// A datagram with this number of bytes.
        case datagram(Int)
        /// There is no datagram.
        case empty
        /// Messages were dropped, or one was larger than the buffer: the known state may be wrong.
        case overflow
    }

    let descriptor: FileDescriptor

    /// - Parameters:
    ///   - groups: the multicast groups to join, `RTNLGRP_*`.
    ///   - receiveBufferBytes: the size of the receive buffer (socket(7), `SO_RCVBUF`); 0 for the kernel's default.
    init(groups: [UInt32], receiveBufferBytes: Int) throws(SystemError) {
        let fd = CLinux_netlink_open(Int32(clamping: receiveBufferBytes))
        guard fd >= 0 else { throw .last("socket", "AF_NETLINK") }
        descriptor = FileDescriptor(owning: fd)
        // Kernels before 5.3 have no nexthop objects.
        for group in groups where CLinux_netlink_join(fd, group) != 0 && group != RTNLGRP_NEXTHOP.rawValue {
            throw .last("setsockopt", "group \(group)")
        }
    }

    /// Reads one datagram into a buffer, without waiting.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Reading {
        let count = CLinux_netlink_receive(descriptor.raw, buffer.baseAddress, buffer.count)
        if count >= 0 { return .datagram(count) }
        switch errno {
        case EAGAIN: return .empty
        case ENOBUFS, EMSGSIZE: return .overflow
        default: throw .last("recvfrom", "AF_NETLINK")
        }
    }

    /// Sends one message to the kernel.
    func send(_ message: [UInt8]) throws(SystemError) {
        switch message.withUnsafeBytes({ Bytes.send(descriptor.raw, $0) }) {
        case .bytes: return
        case .failed(let code): throw SystemError(code: code, operation: "send", subject: "AF_NETLINK")
        case .wouldBlock, .endOfFile: throw SystemError(code: EAGAIN, operation: "send", subject: "AF_NETLINK")
        }
    }
}
