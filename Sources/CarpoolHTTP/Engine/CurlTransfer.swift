internal import CCurl
internal import CarpoolSystem

/// A transfer that libcurl carries out: one hop of a request.
///
/// A running transfer can be paused for three reasons, which are independent of each other:
///
/// | flag | reason | resumed by |
/// | --- | --- | --- |
/// | `deadlines.isPaused` | its owner or its delegate has paused it | ``resume()`` |
/// | `deadlines.isBodyAwaited` | the body's source has no bytes | `onReady` of the source |
/// | ``hasUsedItsShare`` | it has moved its share of the turn | `serveBulk()` in a later turn |
///
/// ``hasReleasedSlot`` and ``keepsPiece`` (libcurl holds a piece of the body) belong to the first row.
final class CurlTransfer {
    /// Its number, unique in its transport.
    let id: Int
    let request: TransportRequest

    /// The state of the transfer; each case holds what exists in it.
    enum Phase {
        /// Started; not yet in the queue.
        case new
        /// In the admission queue of its origin.
        case waiting
        /// With libcurl.
        case running(EasyHandle)
        /// Completed; its delegate was notified.
        case ended
    }

    let transport: CurlTransport
    /// The priority with which it waits in the queue.
    var priority: TransferPriority
    var delegate: (any TransferDelegate)?
    var phase = Phase.new
    var pool: OriginPool?
    /// Its slot in the admission queue, while it waits and while it runs.
    var slot: AdmissionSlot?
    /// Its position among those that wait for a look-up, while it does.
    var lookupPlace: LookupTable<CurlTransfer>.Place?
    /// Whether it is in the table of look-ups.
    var isCountedAsLookup = false
    var connection: OriginConnection?
    /// Sockets opened for it that are not connected yet: one for each address that libcurl tries.
    var connectAttempts: [OriginConnection] = []
    /// Fires at the next deadline; armed while the transfer runs.
    var timer: Timer?
    var deadlines: Deadlines
    var headReader = HeadReader()
    /// The error of the transfer as soon as it is known; it takes precedence over libcurl's result.
    var failure: TransportError?
    /// Wall clock, microseconds.
    let fetchStart: Int64
    /// The number of times that the request was about to be sent: more than one if libcurl repeats it on another
    /// connection.
    var sendCount = 0
    /// Whether a connection is being made for it, so that lines of a head are a proxy's answer to CONNECT.
    var isConnecting = false
    /// The answers of proxies to CONNECT.
    var tunnelAnswers = TunnelAnswers()
    /// Whether CONNECT was sent again over another connection, after the proxy had closed the first one.
    var hasRepeatedTunnel = false
    /// Whether libcurl was about to repeat the request after a final response.
    var hasStoppedRepeat = false
    /// Whether the server has refused the request unprocessed, so that it may be resent whatever its method.
    var isRefused = false
    /// How often libcurl has stopped because the server had refused five streams one after the other.
    var refusals = 0
    /// Whether the last piece of the body was delayed to have input read first.
    var hasCheckedForResponse = false
    /// Bytes of the request's body passed to libcurl since its (last) beginning.
    var bodyPosition: Int64 = 0
    /// Whether its source has reported the end of the body.
    var hasEndedBody = false
    /// Tracks what the peer acknowledges of the body, which libcurl and the kernel hold for long.
    var acknowledgements = SendAcknowledgements()
    /// The certificate authorities of its partition; `nil` if the system's cannot be read.
    var authorities: TrustStore?
    /// The certificate authorities that its connection trusts; `nil` without verification, or if libcurl reads the
    /// system's file itself.
    var trustStore: TrustStore?
    /// The evaluations of the servers of its connections.
    var evaluations = TrustEvaluations()
    /// The question about a server for whose answer it waits.
    var question: TrustQuestion?
    /// Reads the file of the body; made when the body is first sent.
    var fileReader: FileReadAhead?
    /// The Unix socket that it connects to, once it was looked up.
    var socketFile: SocketFile?
    var isLookingUpSocket = false
    var decodedBytes: Int64 = 0
    /// The turn of the loop in which it last moved bytes of a body, and how many.
    var turn = -1
    var movedInTurn = 0
    /// Tracks the pieces in which libcurl passes the response's body.
    var pieces = PieceTracker()
    /// Whether it is paused because it has used its share of the turn, not by its owner or its peer.
    var hasUsedItsShare = false
    /// Whether libcurl keeps the last piece, because the callback returned a pause.
    var keepsPiece = false
    /// Whether it is paused and has released its slot, so that it counts in no limit of the queue.
    var hasReleasedSlot = false
    /// The client's authentication in the connection that was last made for it or chosen; `nil` without TLS.
    var authentication: ClientAuthentication?
    /// How many TLS handshakes have begun on the latest socket that was opened for it.
    var handshakes = 0
    /// The verification of the origin's certificate behind an HTTPS proxy; `nil` elsewhere.
    var verification: VerificationRecord?
    /// Whether the connection had been used before.
    var isReused = false
    /// Whether the end of the connection, which is a passed socket, is that of the response's body.
    var endsWithConnection = false
    /// Why it has made its connection; `nil` if it was there.
    var newConnectionReason: NewConnectionReason?
    /// Which bodies are decoded, as of its last start.
    var decoding = ContentDecoding.none
    /// Decodes the body; `nil` if it has no coding, or an unknown one.
    var decoder: ContentDecoder?
    /// Whether the pooled connection that libcurl chose last was refused as unusable.
    var hasRefusedReuse = false
    /// Whether that has happened before, so that the transfer uses a new connection.
    var needsFreshConnection = false
    /// The bytes that were written to its connection before, if that carries streams and was idle.
    var writtenBefore: UInt64?
    /// Whether addresses were skipped because their family is not usable.
    var hasSkippedFamily = false
    /// Whether addresses of all families are tried.
    var triesEveryFamily = false
    /// Whether one of its addresses was not tried, because the daemon was short of descriptors.
    var lacksSocket = false
    /// The mark of the connections that it may use, and of those that it makes.
    var connectionMark = ConnectionMark.first
    /// Whether all of the response has arrived although libcurl may still send; of HTTP/2 always, of HTTP/1.1 only if
    /// it has arrived before all of the body was sent.
    var hasResponseEnded = false
    /// Whether all of the request was passed on to its HTTP/2 stream.
    var hasEndedStream = false
    /// The HTTP/2 stream of its that the server resets without having ended the response; `nil` for none. libcurl may
    /// repeat the request on another stream.
    var cutStream: StreamID?
    /// The number of shortages before it.
    let shortages = Shortage.count

    /// A stream of HTTP/2.
    struct StreamID: Equatable {
        /// The session of nghttp2, which is only compared.
        let session: UnsafeRawPointer
        let number: Int32
    }

    init(id: Int, request: consuming TransportRequest, delegate: any TransferDelegate, transport: CurlTransport) {
        self.id = id
        self.delegate = delegate
        self.transport = transport
        priority = request.priority
        fetchStart = WallClock.microseconds()
        let start = MonotonicTime.read()
        deadlines = Deadlines(
            start: start, idleMilliseconds: request.idleTimeoutMilliseconds,
            connectMilliseconds: request.connectTimeoutMilliseconds,
            resource: request.resourceEnd(startedAt: start),
            queueMilliseconds: request.queueTimeoutMilliseconds)
        self.request = consume request
    }

    /// The number of turns of small transfers that it has taken: one for each 64 KiB that it moved.
    var turnsTaken: Int { Int(clamping: (decodedBytes &+ bodyPosition) >> 16) }

    /// Whether it waits for its share of a turn. Its idle timeout does not run meanwhile.
    var awaitsShare: Bool { hasUsedItsShare || connection?.isQueued == true }

    var hasEnded: Bool {
        if case .ended = phase { return true }
        return false
    }
}
