internal import CarpoolRPC
internal import CarpoolSystem

/// Throttles progress events for one subscription: of events that come too early the newest waits, and is sent when its
/// time has come or its attempt is over.
struct ProgressThrottle {
    /// The minimum time between two progress events of one request.
    let intervalMilliseconds: Int
    private struct State {
        var sentAt: MonotonicTime
        /// The event that waits.
        var held: Int?
    }

    /// By request and type; those of requests that are over are forgotten, so there are no more than requests under
    /// way.
    private var states: [Key: State] = [:]

    private struct Key: Hashable {
        let subject: ObjectIdentifier
        let type: EventType
    }

    init(intervalMilliseconds: Int) { self.intervalMilliseconds = intervalMilliseconds }

    /// Whether an event is sent now; if not, it replaces the one that waits.
    mutating func admits(_ sequence: Int, _ type: EventType, of subject: EventSubject, at now: MonotonicTime) -> Bool {
        let key = Key(subject: ObjectIdentifier(subject), type: type)
        if let state = states[key], now < state.sentAt.advanced(milliseconds: intervalMilliseconds) {
            states[key]?.held = sequence
            return false
        }
        states[key] = State(sentAt: now, held: nil)
        return true
    }

    /// The waiting events that are due, in order.
    mutating func due(at now: MonotonicTime) -> [Int] {
        var due: [Int] = []
        for (key, state) in states {
            guard let held = state.held, now >= state.sentAt.advanced(milliseconds: intervalMilliseconds) else {
                continue
            }
            due.append(held)
            states[key] = State(sentAt: now, held: nil)
        }
        return due.sorted()
    }

    /// Removes and returns the waiting events of a request, which are its attempt's last.
    mutating func finish(_ subject: EventSubject, types: [EventType]) -> [Int] {
        types.compactMap { states.removeValue(forKey: Key(subject: ObjectIdentifier(subject), type: $0))?.held }
            .sorted()
    }

    /// Resets all state.
    mutating func forgetAll() { states = [:] }

    /// When the next waiting event may be sent.
    var next: MonotonicTime? {
        states.values.filter { $0.held != nil }.map { $0.sentAt.advanced(milliseconds: intervalMilliseconds) }
            .min { $0 < $1 }
    }
}
