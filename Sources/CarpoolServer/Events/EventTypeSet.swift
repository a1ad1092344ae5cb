internal import CarpoolRPC
internal import CarpoolSystem

/// A set of event types, with one bit for each type, so that a filter judges an event without comparing names.
struct EventTypeSet: Equatable {
    /// One bit for each case of ``EventType``; a test holds the number of cases to ``capacity``.
    private var bits: UInt128 = 0

    /// The most types that there may be.
    static let capacity = 128
    /// The types that repeat steps of requests under the names of notifications.
    static let notifications = EventTypeSet { $0.hasPrefix(notificationPrefix) }
    /// The types whose events are as many as the pieces of a body.
    static let bodySteps = EventTypeSet([
        .taskDidReceiveData, .taskDidSendBodyData, .taskDidWriteData, .requestProgress, .requestUploadProgress,
        .requestDidParseStream,
    ])
    private static let notificationPrefix = "notification."

    /// The empty set.
    init() {}

    /// The types whose names satisfy the condition.
    init(where condition: (String) -> Bool) {
        for type in EventType.allCases where condition(type.name.description) { insert(type) }
    }

    /// The types that a pattern matches. The notifications double every step, so only a pattern that begins with their
    /// prefix matches them.
    init(pattern: String) {
        self.init { NamePattern.matches($0, pattern) }
        if !pattern.hasPrefix(EventTypeSet.notificationPrefix) { subtract(.notifications) }
    }

    /// The types that any of the patterns matches.
    init(patterns: [String]) {
        for pattern in patterns { formUnion(EventTypeSet(pattern: pattern)) }
    }

    init(_ types: [EventType]) {
        for type in types { insert(type) }
    }

    var isEmpty: Bool { bits == 0 }

    @inline(__always)
    func contains(_ type: EventType) -> Bool { bits &>> UInt128(truncatingIfNeeded: type.rawValue) & 1 != 0 }

    func intersects(_ other: EventTypeSet) -> Bool { bits & other.bits != 0 }

    mutating func insert(_ type: EventType) { bits |= 1 &<< UInt128(truncatingIfNeeded: type.rawValue) }
    mutating func formUnion(_ other: EventTypeSet) { bits |= other.bits }
    mutating func subtract(_ other: EventTypeSet) { bits &= ~other.bits }
}
