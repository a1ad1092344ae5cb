internal import CarpoolRPC

/// A set of event types: what somebody wants to hear, as one bit for each row of the table, so that an event is judged without its name.
struct EventTypeSet: Equatable {
    /// One bit for each of ``EventType/all``; a test holds the table to so many rows.
    private var bits: UInt128 = 0

    /// The most types that there may be.
    static let capacity = 128
    /// All that mirror steps of requests for those who know them by the names of notifications.
    static let notifications = EventTypeSet { $0.hasPrefix(notificationPrefix) }
    private static let notificationPrefix = "notification."

    /// Nothing.
    init() {}

    /// The types whose names satisfy the condition.
    init(where condition: (String) -> Bool) {
        for (index, type) in EventType.all.enumerated() where condition(type.name.description) { insert(index) }
    }

    /// The types that a pattern stands for. The notifications double every step, so only a pattern that begins like them means them.
    init(pattern: String) {
        self.init { EventPattern.matches($0, pattern) }
        if !pattern.hasPrefix(EventTypeSet.notificationPrefix) { subtract(.notifications) }
    }

    /// The types that any of the patterns stands for.
    init(patterns: [String]) {
        for pattern in patterns { formUnion(EventTypeSet(pattern: pattern)) }
    }

    var isEmpty: Bool { bits == 0 }

    /// Whether the row with this number is in it.
    @inline(__always)
    func contains(_ index: Int) -> Bool { bits &>> UInt128(truncatingIfNeeded: index) & 1 != 0 }

    func intersects(_ other: EventTypeSet) -> Bool { bits & other.bits != 0 }

    mutating func insert(_ index: Int) { bits |= 1 &<< UInt128(truncatingIfNeeded: index) }
    mutating func formUnion(_ other: EventTypeSet) { bits |= other.bits }
    mutating func subtract(_ other: EventTypeSet) { bits &= ~other.bits }
}
