internal import CarpoolSystem
internal import Glibc

/// One socket to an origin, from its opening to its closing.
final class OriginConnection {
    /// The number under which it is told to the world; 0 until the connection stands.
    private(set) var id = 0
    let descriptor: Int32
    let pool: OriginPool
    /// Transfers that have used it, and those that use it now.
    private(set) var transfers = 0
    private(set) var active = 0
    /// When the last transfer left it.
    private(set) var idleSince: MonotonicTime?
    /// What both sides have agreed on; known when the connection stands.
    private(set) var negotiated: Negotiated?
    private(set) var endpoints: Endpoints?
    /// What libcurl waits for at the socket; nothing, while the connection lies in the pool.
    var interest: Interest = []
    /// Whether the loop leaves the socket alone for a while.
    var isThrottled = false
    /// libcurl calls for this socket without anything coming of them.
    var busyLoopGuard = BusyLoopGuard()
    /// Bytes of bodies that were moved over it, in both directions.
    var moved = 0
    /// Whether much was moved over it when it was last served, so that it waits behind those that move little.
    var isBulk = false
    /// Whether it waits for its share of a turn, and what libcurl is to be told of it then.
    var isQueued = false
    var readyBits: Int32 = 0
    /// Whether its transfer is paused until it gets its share of a turn.
    var hasUsedItsShare = false
    /// Whether it carries many transfers at a time.
    private(set) var isShared = false
    /// Sweeps that shall still look at this connection, because something happened at it while it was idle.
    var sweepsPending = 0
    /// Whether a transfer sends a body over it, so that an answer may come any time.
    var isSendingBody = false
    /// Whether the kernel gives it all the time that it takes.
    var hasLongUserTimeout = false
    /// Whether it shall not go back to the pool.
    var isRetired = false
    /// Shut down by us; it only waits to be closed.
    private(set) var isShutDown = false
    /// Shut down under its transfers, because nothing can come over it any more.
    private(set) var isAborted = false

    struct Negotiated {
        /// `h2` or `http/1.1`.
        var httpVersion: String
        var tlsVersion: String?
        var tlsCipher: String?
    }

    /// The addresses at both ends.
    struct Endpoints {
        var remoteAddress: String
        var remotePort: UInt16
        var localAddress: String
        var localPort: UInt16
    }

    init(descriptor: Int32, pool: OriginPool) {
        self.descriptor = descriptor
        self.pool = pool
    }

    /// Whether it stands, and was not shut down by us.
    var isOpen: Bool { negotiated != nil && !isShutDown }

    /// Whether it lies in the pool, of use to the next transfer.
    var isIdle: Bool { idleSince != nil && !isShutDown }

    /// The connection stands: both ends have agreed on how to speak.
    func establish(id: Int, _ negotiated: Negotiated) {
        self.id = id
        self.negotiated = negotiated
        isShared = negotiated.httpVersion == "h2" && pool.multi.key.httpProtocol == .multiplexed
    }

    func acquire() {
        transfers &+= 1
        active += 1
        idleSince = nil
    }

    func release(at now: MonotonicTime) {
        active -= 1
        isSendingBody = false
        isBulk = false
        hasUsedItsShare = false
        if active == 0 { idleSince = now }
    }

    /// Whether there are bytes to be read.
    var hasInput: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Whether its peer has neither sent anything nor ended it since the last response.
    var isQuiet: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0
            && (errno == EAGAIN || errno == EINTR)
    }

    /// Whether nothing may come over it while it lies in the pool. HTTP/2 sends frames of its own at any time; HTTP/1.1 sends responses only, and
    /// one that nobody has asked for would pass for that of the next request. TLS sends its tickets before the first response.
    var mustBeQuiet: Bool { negotiated?.httpVersion != "h2" }

    /// Ends the connection for both sides. libcurl finds it dead and closes the socket when it next looks.
    func shutDown() {
        isShutDown = true
        shutdown(descriptor, Int32(SHUT_RDWR))
        // 7.88.1 takes a connection with unread bytes for alive, and so would keep it. TCP drops them without a copy (tcp(7), MSG_TRUNC);
        // nothing more can come in.
        while recv(descriptor, nil, Int(Int32.max), Int32(MSG_TRUNC) | Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// Ends the connection under its transfers.
    func abort() {
        isAborted = true
        isRetired = true
        shutDown()
    }

    /// How long its peer has sent nothing, neither bytes nor that it got ours, in milliseconds.
    var silenceMilliseconds: Int {
        var information = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &information, &length) == 0 else { return 0 }
        return Int(min(information.tcpi_last_data_recv, information.tcpi_last_ack_recv))
    }

    /// Whether its local end has this port; keeps the addresses if so.
    func matches(_ endpoints: @autoclosure () -> Endpoints, localPort: UInt16) -> Bool {
        if let known = self.endpoints { return known.localPort == localPort }
        guard boundPort == localPort else { return false }
        self.endpoints = endpoints()
        return true
    }

    /// The port as the kernel knows it; 0 if it knows none.
    private var boundPort: UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16 in
                guard getsockname(descriptor, address, &length) == 0 else { return 0 }
                // The port stands at the same place for both families.
                return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
    }
}
