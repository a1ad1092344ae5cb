/// The history of a request with the network. Few requests have one.
final class NetworkHistory {
    /// The wait for a path to the host, while the task waits for one.
    var wait: PathWait?
    /// Whether the monitors were notified that the current task waits: once a task (EM-08).
    var hasReportedWait = false
    /// How often the current task was sent again at once, because there was a path although the kernel reported none.
    var immediateResends = 0
    /// Whether the request was retried after the network was lost during an attempt.
    var hasRetriedLoss = false
    /// The number of the network's last change when the request was retried without waiting for one.
    var changesAtRetry: Int?

    /// Starts a new task.
    func beginTask() {
        hasReportedWait = false
        immediateResends = 0
    }

    /// Ends the wait of the task.
    func endWait() {
        wait?.end()
        wait = nil
    }
}
