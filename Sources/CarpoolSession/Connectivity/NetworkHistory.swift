/// What a request has been through with the network. Few requests have one.
final class NetworkHistory {
    /// The wait for a way to the host, while its task waits for one.
    var wait: PathWait?
    /// Whether the monitors know that the present task waits: they are told once (EM-08).
    var hasToldWait = false
    /// How often the present task was sent again although there was a way each time one looked.
    var contradictions = 0
    /// Whether it was sent again because the network was lost under it.
    var hasRetriedLoss = false
    /// The number of the network's last change when it was sent again without waiting for one.
    var changesAtRetry: Int?

    /// A new task begins.
    func beginTask() {
        hasToldWait = false
        contradictions = 0
    }

    /// Its task waits no more.
    func endWait() {
        wait?.end()
        wait = nil
    }
}
