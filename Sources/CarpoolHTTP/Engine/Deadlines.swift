internal import CarpoolSystem

/// The deadlines of a transfer. A value: it records events, and computes when to check again.
struct Deadlines {
    /// The kind of a deadline, under its name in ``TransportError/timeout``.
    enum Kind: String {
        case queue
        case connect
        case idle
        case body
        case resource
        /// The server has answered before it got all of the body, and takes no more of it.
        case answered
    }

    /// When the transfer was requested.
    let start: MonotonicTime
    private var resource: MonotonicTime
    private var idleMilliseconds: Int
    private let connectMilliseconds: Int
    private var queue: MonotonicTime?
    /// When it left the admission queue. Until then only the times of the whole and of the queue run.
    private(set) var admission: MonotonicTime?
    private(set) var isConnected = false
    /// Whether its owner has paused the transfer. The idle timeout does not run meanwhile.
    private(set) var isPaused = false
    /// Whether the transfer waits for bytes of the body's source. The idle timeout is then reported as ``Kind/body``.
    var isBodyAwaited = false
    /// Whether a caller has to decide about the server first. Only the time of the whole runs meanwhile.
    private(set) var isUndecided = false
    /// Whether the response is complete, but the request is not.
    var isAnswered = false
    private var lastActivity: MonotonicTime

    /// How long the rest of a body may stand still after the response, in milliseconds.
    private static let answeredMilliseconds = 1_000

    init(
        start: MonotonicTime, idleMilliseconds: Int, connectMilliseconds: Int, resource: MonotonicTime,
        queueMilliseconds: Int? = nil
    ) {
        queue = queueMilliseconds.map { start.advanced(milliseconds: $0) }
        self.start = start
        self.idleMilliseconds = idleMilliseconds
        self.connectMilliseconds = connectMilliseconds
        self.resource = resource
        lastActivity = start
    }

    mutating func admitted(at now: MonotonicTime) {
        admission = now
        lastActivity = now
    }

    mutating func connected(at now: MonotonicTime) {
        isConnected = true
        lastActivity = now
    }

    mutating func asked() { isUndecided = true }

    /// The caller has decided: the transfer is queued again, and connects again.
    mutating func decided() {
        isUndecided = false
        admission = nil
        queue = nil
    }

    /// Moves the time of the whole and the idle timeout to these, where they are later.
    mutating func extend(idleMilliseconds: Int, resource: MonotonicTime) {
        self.idleMilliseconds = max(self.idleMilliseconds, idleMilliseconds)
        self.resource = max(self.resource, resource)
    }

    mutating func active(at now: MonotonicTime) { lastActivity = now }

    /// Whether no byte was sent or received for so long.
    func isSilent(for milliseconds: Int, at now: MonotonicTime) -> Bool {
        lastActivity.advanced(milliseconds: milliseconds) <= now
    }

    mutating func paused() { isPaused = true }

    mutating func resumed(at now: MonotonicTime) {
        isPaused = false
        lastActivity = now
    }

    /// The next deadline. Activity moves it further away, so it need only be checked again when it has passed.
    var next: (at: MonotonicTime, kind: Kind) {
        if isUndecided { return (resource, .resource) }
        guard let admission else {
            guard let queue, queue < resource, !isPaused else { return (resource, .resource) }
            return (queue, .queue)
        }
        var first = (at: resource, kind: Kind.resource)
        if !isPaused {
            let idle = lastActivity.advanced(milliseconds: idleMilliseconds)
            if idle < first.at { first = (idle, isBodyAwaited ? .body : .idle) }
            if isAnswered, !isBodyAwaited {
                let answered = lastActivity.advanced(milliseconds: Deadlines.answeredMilliseconds)
                if answered < first.at { first = (answered, .answered) }
            }
        }
        if !isConnected {
            let connect = admission.advanced(milliseconds: connectMilliseconds)
            if connect <= first.at { first = (connect, .connect) }
        }
        return first
    }
}
