internal import CCurl
internal import CarpoolSystem

/// A transfer of libcurl's: one hop under way.
final class CurlTransfer {
    /// Its number, unique in its transport.
    let id: Int
    let request: TransportRequest

    /// Where it is on its way; each case holds what is alive in it.
    enum Phase {
        /// Asked for; not yet in the queue.
        case new
        /// In the admission queue of its origin.
        case waiting
        /// With libcurl.
        case running(EasyHandle)
        /// Over; its delegate knows.
        case ended
    }

    let transport: CurlTransport
    /// How soon it has its turn, if it waits.
    var priority: TransferPriority
    var delegate: (any TransferDelegate)?
    var phase = Phase.new
    var pool: OriginPool?
    /// Its place in the admission queue, while it waits there and while it is under way.
    var slot: AdmissionSlot?
    var connection: OriginConnection?
    /// Sockets opened for it that have not become a connection: one for each address that libcurl tries.
    var connectAttempts: [OriginConnection] = []
    /// Looks after the deadlines; armed while the transfer lives.
    var timer: Timer?
    var deadlines: Deadlines
    var headReader = HeadReader()
    /// Set as soon as we, not libcurl, know why it fails; it has the last word.
    var failure: TransportError?
    /// Wall clock, microseconds.
    let fetchStart: Int64
    /// How often a request was about to be sent: more than once if libcurl repeats it on another connection.
    var sendCount = 0
    /// Whether the server has said that it did nothing with the request, so that it may be sent again whatever its method.
    var isRefused = false
    /// Whether the last piece of the body was held back to have something read first.
    var hasCheckedForResponse = false
    /// Bytes of the request's body given to libcurl since its (last) beginning.
    var bodyPosition: Int64 = 0
    /// The system's authorities, as long as libcurl may use them for this transfer.
    var systemTrust: TrustStore?
    /// Reads the file of the body; made when the body is first sent.
    var fileReader: FileReadAhead?
    var decodedBytes: Int64 = 0
    /// The turn of the loop in which it last moved bytes of a body, and how many.
    var turn = -1
    var movedInTurn = 0
    /// The pieces in which its body comes.
    var pieces = PieceTracker()
    /// Whether it is paused because it has had its share of a turn; its own side and its peer have no part in that.
    var hasUsedItsShare = false
    /// Whether libcurl keeps the last piece, because the answer to it was to pause.
    var keepsPiece = false
    /// Whether it is held up and counts in no limit of the admission queue.
    var hasReleasedSlot = false
    /// Whether the server has asked for a client certificate; it got none.
    var isCertificateWanted = false
    /// Whether the connection had been used before.
    var isReused = false
    /// Whether the body is decoded, if its coding is known.
    var isDecoding = false
    /// Undoes the codings of the body; `nil` if it has none that is known.
    var decoder: ContentDecoder?
    /// Whether the pooled connection that libcurl chose last was not fit for use.
    var hasRefusedReuse = false
    /// Whether that has happened at all, so that the transfer is given a connection of its own.
    var needsFreshConnection = false
    /// Whether addresses were left out because nothing can leave for their family.
    var hasSkippedFamily = false
    /// Whether none is left out any more.
    var triesEveryFamily = false

    init(id: Int, request: TransportRequest, delegate: any TransferDelegate, transport: CurlTransport) {
        self.id = id
        self.request = request
        self.delegate = delegate
        self.transport = transport
        priority = request.priority
        fetchStart = WallClock.microseconds()
        deadlines = Deadlines(
            start: MonotonicTime.read(), idleMilliseconds: request.idleTimeoutMilliseconds,
            connectMilliseconds: request.connectTimeoutMilliseconds,
            resourceMilliseconds: request.resourceTimeoutMilliseconds,
            queueMilliseconds: request.queueTimeoutMilliseconds)
    }

    /// How many turns of small transfers it has taken: one for each 64 KiB that it moved.
    var turnsTaken: Int { Int(clamping: (decodedBytes &+ bodyPosition) >> 16) }

    /// Whether it waits for its share of a turn, so that no silence is the peer's.
    var awaitsShare: Bool { hasUsedItsShare || connection?.isQueued == true }

    var hasEnded: Bool {
        if case .ended = phase { return true }
        return false
    }
}
