public import CarpoolSystem

/// A change from one reading to another, with its causes.
public struct ReachabilityChange: Sendable {
    /// The reading before the change.
    public let previous: ReachabilityReading
    /// The current reading.
    public let current: ReachabilityReading
    /// The difference between the two.
    public let difference: ReachabilityDifference
    /// The causes of the evaluation.
    public let causes: ReachabilityCauses
    /// The time of the first notification or event that caused the evaluation.
    public let firstEvent: MonotonicTime

    /// Compares two readings.
    public init(
        from previous: ReachabilityReading, to current: ReachabilityReading, causes: ReachabilityCauses,
        firstEvent: MonotonicTime
    ) {
        self.previous = previous
        self.current = current
        self.causes = causes
        self.firstEvent = firstEvent
        difference = ReachabilityDifference(previous.snapshot, current.snapshot)
    }

    /// Addresses that no interface has any more: connections from them are dead without an error.
    public var removedAddresses: Set<IPAddress> {
        previous.snapshot.localAddresses.subtracting(current.snapshot.localAddresses)
    }

    /// Whether packets could leave to the internet, and no longer can.
    public var isLoss: Bool { previous.snapshot.canTry && !current.snapshot.canTry }

    /// Whether packets could not leave to the internet, and now can.
    public var isReturn: Bool { !previous.snapshot.canTry && current.snapshot.canTry }
}

extension ReachabilitySnapshot {
    /// Whether requests to other machines can be tried; also true if the status is unknown.
    public var canTry: Bool { status == .satisfied || status == .unknown }
}
