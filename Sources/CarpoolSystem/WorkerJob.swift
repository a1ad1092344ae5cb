/// A job of a ``Worker``: a thread runs its work, and the loop receives it when it is done.
///
/// Everything but ``run()`` is used on the loop, and the loop releases it, also what its work refers to: a thread that
/// freed memory of the loop would hold the allocator's lock meanwhile.
class WorkerJob: Post, @unchecked Sendable {
    /// The job's number in the scheduler.
    let ticket: Int
    private let link: WorkerLink
    /// How long its work has run, in microseconds.
    private(set) var microseconds = 0

    init(ticket: Int, link: WorkerLink) {
        self.ticket = ticket
        self.link = link
    }

    /// Does the work, on a thread.
    override final func run() {
        let start = MonotonicTime.read()
        work()
        microseconds = MonotonicTime.read().microseconds(since: start)
    }

    /// Does the work and keeps its result.
    func work() {}

    /// Passes the result on, on the loop.
    func complete() {}

    override final func deliver(on loop: EventLoop) { link.worker?.finish(self) }
}

/// A job with a result of this type.
///
/// `@unchecked Sendable` because the thread has written the result before it posts the job to the loop.
final class ResultJob<Value: Sendable>: WorkerJob, @unchecked Sendable {
    private let makeValue: @Sendable () -> Value
    private let then: (Value) -> Void
    private var value: Value?

    init(
        ticket: Int, link: WorkerLink, _ makeValue: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        self.makeValue = makeValue
        self.then = then
        super.init(ticket: ticket, link: link)
    }

    override func work() { value = makeValue() }

    override func complete() {
        if let value { then(value) }
    }
}

/// A weak reference from a job, or from a block in the loop's inbox, to the worker.
///
/// `@unchecked Sendable` because it is carried across threads and opened on the loop only.
final class WorkerLink: @unchecked Sendable {
    weak var worker: Worker?
}
