public import CarpoolSystem

/// Decides which changes are reported to one listener, and when: a loss after it has lasted for a while, other
/// changes at once, with a minimum interval between two. A value without a clock: the time is a parameter.
public struct Debouncer: Sendable {
    /// The settings of a listener.
    public struct Settings: Equatable, Sendable {
        /// Delay before a loss is reported, in milliseconds: most cables and access points that go away come back
        /// within this time.
        public var lostAfterMilliseconds = 250
        /// Delay before a return is reported, in milliseconds.
        public var backAfterMilliseconds = 0
        /// Minimum interval between two reports, in milliseconds.
        public var minimumIntervalMilliseconds = 100
        /// The lowest level that is reported.
        public var level = ReachabilityDifference.Level.major

        /// The defaults.
        public init() {}

        fileprivate func wants(_ level: ReachabilityDifference.Level?) -> Bool {
            level == .major || (level == .minor && self.level == .minor)
        }
    }

    /// The next thing to do.
    public enum Action: Sendable {
        /// Nothing; an earlier deadline is cancelled.
        case none
        /// Call ``deadlineDidCome(_:at:)`` at this time.
        case wait(until: MonotonicTime)
        /// Call the listener with the change.
        case report(ReachabilityChange)
    }

    private struct Pending {
        var since: MonotonicTime
        var isLoss: Bool
        var causes: ReachabilityCauses
        var firstEvent: MonotonicTime
    }

    private let settings: Settings
    /// The reading that was reported last.
    public private(set) var reported: ReachabilityReading
    private var lastReported: MonotonicTime?
    private var pending: Pending?

    /// Creates a debouncer for a listener that knows this reading.
    public init(_ settings: Settings, reported: ReachabilityReading) {
        self.settings = settings
        self.reported = reported
    }

    /// Processes a new reading.
    public mutating func offer(
        _ reading: ReachabilityReading, causes: ReachabilityCauses, firstEvent: MonotonicTime, at now: MonotonicTime
    ) -> Action {
        let change = ReachabilityChange(from: reported, to: reading, causes: causes, firstEvent: firstEvent)
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

    /// Processes the end of the wait, with the newest reading.
    public mutating func deadlineDidCome(_ reading: ReachabilityReading, at now: MonotonicTime) -> Action {
        guard let pending else { return .none }
        return offer(reading, causes: [], firstEvent: pending.firstEvent, at: now)
    }

    private mutating func settle(_ reading: ReachabilityReading, at now: MonotonicTime) -> Action {
        guard let pending else { return .none }
        let change = ReachabilityChange(
            from: reported, to: reading, causes: pending.causes, firstEvent: pending.firstEvent)
        let delay =
            change.isLoss
            ? settings.lostAfterMilliseconds : change.isReturn ? settings.backAfterMilliseconds : 0
        var due = pending.since.advanced(milliseconds: delay)
        if let lastReported {
            due = max(due, lastReported.advanced(milliseconds: settings.minimumIntervalMilliseconds))
        }
        guard due <= now else { return .wait(until: due) }
        self.pending = nil
        reported = reading
        lastReported = now
        return .report(change)
    }
}
