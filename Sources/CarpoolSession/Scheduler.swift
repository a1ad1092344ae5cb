public import CarpoolSystem

/// Does things later, on the session's loop: back-off, deadlines.
public protocol Scheduler: AnyObject {
    /// The machine's monotonic clock as this turn of the loop sees it.
    var now: MonotonicTime { get }
    /// Has the timer's action called after so many milliseconds; again armed, it moves.
    func arm(_ timer: Timer, afterMilliseconds milliseconds: Int)
    /// Takes a timer back.
    func cancel(_ timer: Timer)
    /// Runs a block on the loop, from any thread: for what comes from elsewhere, as the cancellation of a task may.
    func post(_ block: @escaping @Sendable () -> Void)
}

extension EventLoop: Scheduler {}
