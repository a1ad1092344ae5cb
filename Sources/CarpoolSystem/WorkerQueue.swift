/// Jobs of a ``Worker`` that run in order, one at a time, such as the writes to one file.
public final class WorkerQueue {
    private let worker: Worker
    private let share: WorkerShare
    private let limit: Int
    private var waiting: [() -> Void] = []
    private var isRunning = false

    /// Makes an empty queue.
    /// - Parameter limit: how many jobs may wait after the one that runs.
    public init(worker: Worker, share: WorkerShare, limit: Int) {
        self.worker = worker
        self.share = share
        self.limit = limit
    }

    /// Whether no job runs or waits.
    public var isIdle: Bool { !isRunning }

    /// Runs `work` on a thread after all jobs that were added before have ended, and then `then` on the loop.
    /// - Throws: ``WorkerError`` if too many jobs wait, here or in the worker; then nothing of this runs.
    public func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) throws(WorkerError) {
        if isRunning {
            guard waiting.count < limit else { throw WorkerError(waiting: waiting.count) }
            waiting.append { [self] in worker.runAlways(for: share, work) { [self] in finish($0, then) } }
        } else {
            try worker.run(for: share, work) { [self] in finish($0, then) }
            isRunning = true
        }
    }

    /// The same for the last job of a queue, which must not be refused, such as closing the file. One for each queue.
    public func runLast<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) {
        let start = { [self] in worker.runAlways(for: share, work) { [self] in finish($0, then) } }
        if isRunning {
            waiting.append(start)
        } else {
            isRunning = true
            start()
        }
    }

    private func finish<Value>(_ value: Value, _ then: (Value) -> Void) {
        if waiting.isEmpty {
            isRunning = false
        } else {
            waiting.removeFirst()()
        }
        then(value)
    }
}
