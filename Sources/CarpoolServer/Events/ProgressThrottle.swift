internal import CarpoolRPC
internal import CarpoolSystem

/// Decides which steps of the requests' progress a subscriber is told that wants them less often: of those that come too early the newest
/// waits, and is told when its time has come or its attempt is over.
struct ProgressThrottle {
    /// The least time between two steps of one request.
    let intervalMilliseconds: Int
    private struct State {
        var sentAt: MonotonicTime
        /// The event that waits.
        var held: Int?
    }

    /// By request and type; those of requests that are over are forgotten, so there are no more than requests under way.
    private var states: [Key: State] = [:]

    private struct Key: Hashable {
        let subject: ObjectIdentifier
        let type: EventType
    }

    init(intervalMilliseconds: Int) { self.intervalMilliseconds = intervalMilliseconds }

    /// Whether a step is to be told now; else it waits in place of the one before it.
    mutating func admits(_ sequence: Int, _ type: EventType, of subject: EventSubject, at now: MonotonicTime) -> Bool {
        let key = Key(subject: ObjectIdentifier(subject), type: type)
        if let state = states[key], now < state.sentAt.advanced(milliseconds: intervalMilliseconds) {
            states[key]?.held = sequence
            return false
        }
        states[key] = State(sentAt: now, held: nil)
        return true
    }

    /// The steps that wait although their time has come, in the order in which they happened.
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

    /// The steps of a request that wait, which are its attempt's last.
    mutating func finish(_ subject: EventSubject, types: [EventType]) -> [Int] {
        types.compactMap { states.removeValue(forKey: Key(subject: ObjectIdentifier(subject), type: $0))?.held }
            .sorted()
    }

    /// Begins anew.
    mutating func forgetAll() { states = [:] }

    /// When the next one that waits may be told.
    var next: MonotonicTime? {
        states.values.filter { $0.held != nil }.map { $0.sentAt.advanced(milliseconds: intervalMilliseconds) }
            .min { $0 < $1 }
    }
}
