/// Reloads of the configuration in the order of the calls: each is read, checked and in force before the next is read.
final class ReloadQueue {
    private var waiting: [() -> Void] = []
    private var isRunning = false

    /// Maximum reloads that wait after the one that runs.
    static let limit = 16

    /// Starts a reload, now or when those before it are over. Returns whether there is room for it.
    func add(_ start: @escaping () -> Void) -> Bool {
        guard isRunning else {
            isRunning = true
            start()
            return true
        }
        guard waiting.count < ReloadQueue.limit else { return false }
        waiting.append(start)
        return true
    }

    /// Notes that the reload that runs is over.
    func didEnd() {
        guard !waiting.isEmpty else { return isRunning = false }
        waiting.removeFirst()()
    }
}
