internal import CLinux
internal import CarpoolSystem
internal import Glibc

/// A transfer that sends a body over a connection of its own.
protocol BodySender: AnyObject {
    /// libcurl has read what had arrived on the connection, while nothing could be sent.
    func connectionWasRead()
}

/// One socket to an origin, from its opening to its closing.
///
/// Its state follows from these members; all other flags are independent of it:
///
/// | state | `negotiated` | `active` | `idleSince` | `isRetired` | `isShutDown` |
/// | --- | --- | --- | --- | --- | --- |
/// | connecting | `nil` | 0 | `nil` | any | no |
/// | in use | set | above 0 | `nil` | no | no |
/// | in use for the last time | set | above 0 | `nil` | yes | no |
/// | idle | set | 0 | set | no | no |
/// | shut down; libcurl closes it when it next checks | set | 0 | set | any | yes |
/// | aborted under its transfers (`isAborted`) | set | above 0 | `nil` | yes | yes |
final class OriginConnection {
    /// The public number of the connection; 0 until it is established.
    private(set) var id = 0
    let descriptor: Int32
    let pool: OriginPool
    /// The mark of the requests that may use it.
    let mark: ConnectionMark
    /// Transfers that have used it, and those that use it now.
    private(set) var transfers = 0
    private(set) var active = 0
    /// When the last transfer left it.
    private(set) var idleSince: MonotonicTime?
    /// The negotiated protocols; known once the connection is established.
    private(set) var negotiated: Negotiated?
    private(set) var endpoints: Endpoints?
    /// libcurl's number of a connection over a Unix socket; `nil` for others.
    private(set) var number: Int64?
    /// Moves its bytes to and from the socket that a caller has passed; `nil` for others.
    var relay: SocketRelay?
    /// The events that libcurl waits for; none while the connection is idle.
    var interest: Interest = []
    /// Whether the socket's events are ignored for a while (``BusyLoopGuard``).
    var isThrottled = false
    /// Detects calls of libcurl for this socket without progress.
    var busyLoopGuard = BusyLoopGuard()
    /// Bytes of bodies that were moved over it, in both directions.
    var moved = 0
    /// Whether much was moved over it when it was last served, so that it is served after those that move little.
    var isBulk = false
    /// Whether it waits for its share of a turn, and the events to pass to libcurl then.
    var isQueued = false
    var readyBits: Int32 = 0
    /// Whether its transfer is paused until it gets its share of a turn.
    var hasUsedItsShare = false
    /// Whether it carries several transfers at a time.
    private(set) var isShared = false
    /// The number of sweeps that still have to check this connection, because it became readable while it was idle.
    var sweepsPending = 0
    /// Whether a transfer sends a body over it, so that a response may arrive at any time.
    var isSendingBody = false
    /// That transfer, if no other can use the connection meanwhile.
    var sender: (any BodySender)?
    /// The `errno` with which the kernel refuses to watch it; `nil` if it does not.
    private(set) var refusalCode: Int32?
    /// Whether TCP_USER_TIMEOUT was raised for a large upload.
    var hasLongUserTimeout = false
    /// Whether it is not reused after its current transfers.
    var isRetired = false
    /// Whether this process has shut it down, and libcurl has not closed it yet.
    private(set) var isShutDown = false
    /// Whether it was shut down under its transfers, because it lost its local address.
    private(set) var isAborted = false

    struct Negotiated {
        /// `h2` or `http/1.1`.
        var httpVersion: String
        var tlsVersion: String?
        var tlsCipher: String?
        /// The client's part of the authentication; `nil` without TLS.
        var authentication: ClientAuthentication?
        /// The verification of the server and of an HTTPS proxy.
        var verification = VerificationResults()
        /// What libcurl says of the server's certificates, if the transfer that made the connection asked for it.
        var certificates: [[String]]?
        /// The tunnel of an HTTP proxy; `nil` without one.
        var tunnel: ProxyTunnel?
    }

    /// The addresses at both ends.
    struct Endpoints {
        var remoteAddress: String
        var remotePort: UInt16
        var localAddress: String
        var localPort: UInt16
    }

    init(descriptor: Int32, pool: OriginPool, mark: ConnectionMark) {
        self.descriptor = descriptor
        self.pool = pool
        self.mark = mark
    }

    /// Whether it is established and was not shut down by this process.
    var isOpen: Bool { negotiated != nil && !isShutDown }

    /// Whether it is idle and can be reused.
    var isIdle: Bool { idleSince != nil && !isShutDown }

    /// Whether it carries requests, and must not get more.
    var hasRetiredStreams: Bool { isRetired && !isShutDown && active > 0 }

    /// The connection is established and the protocol negotiated.
    func establish(id: Int, _ negotiated: Negotiated) {
        self.id = id
        self.negotiated = negotiated
        isShared = negotiated.httpVersion == "h2" && pool.multi.key.httpProtocol == .multiplexed
    }

    func acquire() {
        transfers += 1
        active += 1
        idleSince = nil
    }

    func release(at now: MonotonicTime) {
        active -= 1
        isSendingBody = false
        sender = nil
        isBulk = false
        hasUsedItsShare = false
        if active == 0 { idleSince = now }
    }

    /// Whether there are bytes to be read.
    var hasInput: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Whether its peer has neither sent anything nor closed it since the last response.
    var hasNoUnexpectedInput: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0
            && (errno == EAGAIN || errno == EINTR)
    }

    /// Whether no bytes may arrive while it is idle. HTTP/2 sends frames of its own at any time; HTTP/1.1 sends
    /// responses only, and an unrequested one would pass for that of the next request. TLS sends its tickets before
    /// the first response.
    var forbidsIdleInput: Bool { negotiated?.httpVersion != "h2" }

    /// Shuts the connection down in both directions. libcurl finds it dead and closes the socket when it next checks.
    func shutDown() {
        isShutDown = true
        shutdown(descriptor, Int32(SHUT_RDWR))
        // 7.88.1 takes a connection with unread bytes for alive and would keep it. TCP drops them without a copy
        // (tcp(7), MSG_TRUNC); no more can arrive.
        while recv(descriptor, nil, Int(Int32.max), Int32(MSG_TRUNC) | Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// Makes a connection of HTTP/2, whose peer has been silent to one of its transfers, no candidate for further
    /// requests, unless the peer has sent something to another one meanwhile. One of HTTP/1.1 ends with its unfinished
    /// request.
    func retireIfItStays(silentFor milliseconds: Int) {
        guard negotiated?.httpVersion == "h2" else { return }
        if active > 1, let silence = inputSilenceMilliseconds, silence < milliseconds { return }
        isRetired = true
    }

    /// Ends a connection of which the kernel does not report what happens on it.
    func endUnwatched(_ code: Int32) {
        refusalCode = code
        isRetired = true
        shutDown()
    }

    /// Shuts the connection down under its transfers.
    func abort() {
        isAborted = true
        isRetired = true
        shutDown()
    }

    /// The time since its peer last sent bytes or acknowledgements, in milliseconds.
    var silenceMilliseconds: Int {
        information.map { Int(min($0.tcpi_last_data_recv, $0.tcpi_last_ack_recv)) } ?? 0
    }

    /// The time since its peer last sent bytes, in milliseconds; `nil` if that is not known.
    private var inputSilenceMilliseconds: Int? { information.map { Int($0.tcpi_last_data_recv) } }

    private var information: tcp_info? {
        var information = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &information, &length) == 0 else { return nil }
        return information
    }

    /// The bytes that its peer has acknowledged; `nil` if that is not known.
    var bytesAcknowledged: UInt64? {
        let count = CLinux_bytes_acknowledged(descriptor)
        return count < 0 ? nil : UInt64(count)
    }

    /// The written bytes that its peer has not acknowledged; `nil` if that is not known.
    var bytesOutstanding: UInt64? {
        let count = CLinux_bytes_outstanding(descriptor)
        return count < 0 ? nil : UInt64(count)
    }

    /// The bytes that were written to its socket; `nil` if that is not known.
    var bytesWritten: UInt64? {
        let count = CLinux_bytes_written(descriptor)
        return count < 0 ? nil : UInt64(count)
    }

    /// Whether its local port is this one; stores the endpoints if so.
    func matches(_ endpoints: @autoclosure () -> Endpoints, localPort: UInt16) -> Bool {
        if let known = self.endpoints { return known.localPort == localPort }
        guard boundPort == localPort else { return false }
        self.endpoints = endpoints()
        return true
    }

    /// Records which connection over a Unix socket this is.
    func identify(number: Int64?, peer: String) {
        self.number = number
        endpoints = Endpoints(remoteAddress: peer, remotePort: 0, localAddress: "", localPort: 0)
    }

    /// The local port that the kernel reports; 0 if there is none.
    private var boundPort: UInt16 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16 in
                guard getsockname(descriptor, address, &length) == 0 else { return 0 }
                // The port is at the same offset for both families.
                return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
    }
}
