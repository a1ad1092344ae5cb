public import CarpoolSystem

/// Decides which of all changes one listener hears of, and when: a loss only when it has lasted, other changes at once, none too soon after
/// another. A value without a clock: it is given the time.
public struct Debouncer: Sendable {
    /// What a listener wants.
    public struct Settings: Equatable, Sendable {
        /// How long a loss must last, in milliseconds: most cables and access points that go away come back within this time.
        public var lostAfterMilliseconds = 250
        /// How long a return must last, in milliseconds.
        public var backAfterMilliseconds = 0
        /// How long after one change the next may be told, in milliseconds.
        public var minimumIntervalMilliseconds = 100
        /// The least of what is told.
        public var level = ReachabilityDifference.Level.major

        /// The defaults.
        public init() {}

        fileprivate func wants(_ level: ReachabilityDifference.Level?) -> Bool {
            level == .major || (level == .minor && self.level == .minor)
        }
    }

    /// What is to be done.
    public enum Action: Sendable {
        /// Nothing; a deadline that was asked for does not count any more.
        case none
        /// Call ``deadlineDidCome(_:at:)`` at this time.
        case wait(until: MonotonicTime)
        /// Tell the listener.
        case tell(ReachabilityChange)
    }

    private struct Pending {
        var since: MonotonicTime
        var isLoss: Bool
        var causes: ReachabilityCauses
        var firstEvent: MonotonicTime
    }

    private let settings: Settings
    /// What the listener knows.
    public private(set) var told: ReachabilityReading
    private var lastTold: MonotonicTime?
    private var pending: Pending?

    /// Begins with what the listener has been told.
    public init(_ settings: Settings, told: ReachabilityReading) {
        self.settings = settings
        self.told = told
    }

    /// Takes up what has just been read.
    public mutating func offer(
        _ reading: ReachabilityReading, causes: ReachabilityCauses, firstEvent: MonotonicTime, at now: MonotonicTime
    ) -> Action {
        let change = ReachabilityChange(from: told, to: reading, causes: causes, firstEvent: firstEvent)
        guard settings.wants(change.difference.level) else {
            pending = nil
            return .none
        }
        let kind = change.isLoss
        if let old = pending {
            pending = Pending(
                since: old.isLoss == kind ? old.since : firstEvent, isLoss: kind,
                causes: old.causes.union(causes), firstEvent: min(old.firstEvent, firstEvent))
        } else {
            pending = Pending(since: firstEvent, isLoss: kind, causes: causes, firstEvent: firstEvent)
        }
        return settle(reading, at: now)
    }

    /// The time that was asked for has come; the reading is the newest there is.
    public mutating func deadlineDidCome(_ reading: ReachabilityReading, at now: MonotonicTime) -> Action {
        guard let pending else { return .none }
        return offer(reading, causes: [], firstEvent: pending.firstEvent, at: now)
    }

    private mutating func settle(_ reading: ReachabilityReading, at now: MonotonicTime) -> Action {
        guard let pending else { return .none }
        let change = ReachabilityChange(
            from: told, to: reading, causes: pending.causes, firstEvent: pending.firstEvent)
        let hold =
            change.isLoss
            ? settings.lostAfterMilliseconds : change.isReturn ? settings.backAfterMilliseconds : 0
        var due = pending.since.advanced(milliseconds: hold)
        if let lastTold { due = max(due, lastTold.advanced(milliseconds: settings.minimumIntervalMilliseconds)) }
        guard due <= now else { return .wait(until: due) }
        self.pending = nil
        told = reading
        lastTold = now
        return .tell(change)
    }
}
