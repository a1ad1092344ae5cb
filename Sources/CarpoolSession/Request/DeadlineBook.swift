internal import CarpoolSystem

/// The one time limit of a request, from its start to the end of its record: everything that waits within it asks here.
/// The transport keeps it within a transfer; between transfers a timer does.
struct DeadlineBook {
    /// When the request was started; `nil` before that.
    private(set) var start: MonotonicTime?
    /// The timer that ends waits between transfers; `nil` as long as there was no such wait.
    var timer: Timer?
    /// Whether the timer has ended such a wait.
    var hasPassed = false

    /// The request is started. Later calls change nothing.
    mutating func begin(at now: MonotonicTime) {
        if start == nil { start = now }
    }

    /// The milliseconds that are left of a limit, rounded up; `nil` before the start.
    func millisecondsLeft(of limit: Int, at now: MonotonicTime) -> Int? {
        start.map { ($0.advanced(milliseconds: limit).microseconds(since: now) + 999) / 1_000 }
    }
}
