import CarpoolHTTP
import CarpoolSession
import CarpoolSystem

/// A transport in front of another one, which starts each task some milliseconds later.
final class DelayingTransport: Transport {
    private let next: any Transport
    private let scheduler: any Scheduler
    private let milliseconds: Int
    private var tasks = 0

    init(_ next: any Transport, _ scheduler: any Scheduler, milliseconds: Int) {
        self.next = next
        self.scheduler = scheduler
        self.milliseconds = milliseconds
    }

    func start(_ request: TransportRequest, delegate: any TransferDelegate) -> any TransportTask {
        tasks += 1
        let task = DelayedTask(id: tasks, request: request, delegate: delegate, next, scheduler)
        task.wait(milliseconds: milliseconds)
        return task
    }

    var connectionObserver: (any ConnectionObserver)? {
        get { next.connectionObserver }
        set { next.connectionObserver = newValue }
    }

    func closeIdleConnections() -> Int { next.closeIdleConnections() }
    var statistics: PoolStatistics { next.statistics }
    func load(of users: PoolUsers) -> PoolLoad { next.load(of: users) }
    func origins(of users: PoolUsers, after number: Int, atMost count: Int) -> [OriginStatistics] {
        next.origins(of: users, after: number, atMost: count)
    }
}

/// A task that keeps its calls until its start, and then passes everything on in both directions.
final class DelayedTask: TransportTask {
    let id: Int
    let request: TransportRequest
    private let next: any Transport
    private let scheduler: any Scheduler
    private var delegate: (any TransferDelegate)?
    private var timer: Timer?
    /// The task of the next transport, once it is started.
    private var task: (any TransportTask)?
    private var isPaused = false
    private var isCancelled = false
    private var priority: TransferPriority?

    fileprivate init(
        id: Int, request: TransportRequest, delegate: any TransferDelegate, _ next: any Transport,
        _ scheduler: any Scheduler
    ) {
        self.id = id
        self.request = request
        self.delegate = delegate
        self.next = next
        self.scheduler = scheduler
    }

    fileprivate func wait(milliseconds: Int) {
        let timer = timer ?? Timer { self.begin() }
        self.timer = timer
        scheduler.arm(timer, afterMilliseconds: milliseconds)
    }

    private func begin() {
        timer = nil
        if isCancelled {
            let error = TransportError(.cancelled, "the transfer was cancelled")
            return complete(TransferCompletion(error: error, metrics: TransferMetrics()))
        }
        let task = next.start(request, delegate: self)
        self.task = task
        if let priority { task.setPriority(priority) }
        if isPaused { task.pause() }
    }

    private func complete(_ completion: TransferCompletion) {
        let delegate = delegate
        self.delegate = nil
        delegate?.transferDidComplete(self, completion)
    }

    var bodyPosition: Int64 { task?.bodyPosition ?? 0 }

    func cancel() {
        if let task { return task.cancel() }
        guard delegate != nil else { return }
        isCancelled = true
        wait(milliseconds: 0)
    }

    func pause() {
        isPaused = true
        task?.pause()
    }

    func resume() {
        isPaused = false
        task?.resume()
    }

    func setPriority(_ priority: TransferPriority) {
        self.priority = priority
        task?.setPriority(priority)
    }
}

extension DelayedTask: TransferDelegate {
    func transferDidStart(_ transfer: any TransportTask) { delegate?.transferDidStart(self) }

    func transferDidSecureConnection(_ transfer: any TransportTask) { delegate?.transferDidSecureConnection(self) }

    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) {
        delegate?.transfer(self, didReceive: head)
    }

    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        delegate?.transfer(self, didReceive: bytes) ?? .stop
    }

    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {
        delegate?.transfer(self, didSendBodyBytes: count)
    }

    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) { complete(completion) }
}
