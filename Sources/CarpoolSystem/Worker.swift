/// Runs work that may block or take long, above all calls on files: on named threads ("carpool-file-1" ...), with
/// results returned through the loop's inbox.
///
/// Used on the loop only. The code on a thread is a `@Sendable` closure; the code that follows runs on the loop and
/// never leaves it. Jobs of different shares take turns (``JobScheduler``), jobs of one share run in any order: a
/// ``WorkerQueue`` keeps an order.
///
/// Nothing waits for the threads: a job on a file system that never answers blocks its thread, but neither the loop nor
/// the end of the process.
public final class Worker {
    let loop: EventLoop
    private let threads: WorkerThreads
    private var scheduler: JobScheduler
    private var jobs: [Int: WorkerJob] = [:]
    private var lastTicket = 0
    private var counters = WorkerStatistics()
    private var closing: ClosingAccount
    /// Called when a user begins to have too many descriptors that wait to be closed, or no longer has.
    public var onClosingChange: ((UInt32) -> Void)?
    private let link: WorkerLink
    private let stallTimer: Timer
    private let threadTimer: Timer

    /// A job that runs for longer than this does not hold back others any more: it gets a thread more than the maximum.
    static let stallMilliseconds = 1_000
    /// The idle time after which a thread ends.
    private static let idleMilliseconds = 10_000
    /// The delay before a thread is started again that the system has refused (RLIMIT_NPROC, memory).
    private static let threadRetryMilliseconds = 100

    /// Creates a worker without threads, which are started for jobs.
    /// - Parameter keepsThread: whether there is one for as long as the process runs once one was started, so that jobs
    ///   run when the system starts no more threads.
    public convenience init(loop: EventLoop, keepsThread: Bool = false) {
        self.init(
            loop: loop, limits: JobScheduler.Limits(), idleMilliseconds: Worker.idleMilliseconds,
            keepsThread: keepsThread)
    }

    init(
        loop: EventLoop, limits: JobScheduler.Limits, idleMilliseconds: Int, keepsThread: Bool = false,
        closing: ClosingAccount = ClosingAccount()
    ) {
        self.loop = loop
        self.closing = closing
        scheduler = JobScheduler(limits: limits)
        threads = WorkerThreads(loop: loop, idleMilliseconds: idleMilliseconds, keepsThread: keepsThread)
        let link = WorkerLink()
        stallTimer = Timer { link.worker?.startNext() }
        threadTimer = Timer { link.worker?.startMissingThreads() }
        self.link = link
        link.worker = self
    }

    deinit {
        loop.cancel(stallTimer)
        loop.cancel(threadTimer)
    }

    /// Runs `work` on a thread, then `then` on the loop with its result; never before this call has returned.
    /// - Throws: ``WorkerError`` if too many jobs wait; then nothing of this runs.
    public func run<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) throws(WorkerError) {
        try add(work, then: then, share: share, mayBeRefused: true)
    }

    /// The same for a job that must not be refused, because it frees something or continues earlier work. There may
    /// be one of them for each descriptor, transfer or ``WorkerQueue``, which bounds their number.
    public func runAlways<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        // Cannot fail: only a job that may be refused is.
        try? add(work, then: then, share: share, mayBeRefused: false)
    }

    /// Closes a descriptor on a thread, since close(2) waits for some file systems.
    public func close(_ descriptor: consuming FileDescriptor, for share: WorkerShare) {
        close([descriptor.release()], for: share, then: {})
    }

    /// Closes descriptors in one job, so that those that block hold one thread.
    public func close(_ raws: [Int32], for share: WorkerShare, then: @escaping () -> Void) {
        runClosing(raws.count, for: share, { for raw in raws { _ = FileDescriptor(owning: raw) } }, then: then)
    }

    /// Runs a job that closes this many descriptors.
    func runClosing(
        _ count: Int, for share: WorkerShare, _ work: @escaping @Sendable () -> Void, then: @escaping () -> Void
    ) {
        runAlways(for: share, work) { [weak self] in
            self?.countClosing(-count, for: share)
            then()
        }
        countClosing(count, for: share)
    }

    /// Whether too many descriptors of a user wait to be closed for more to be accepted from it.
    public func hasTooManyToClose(_ user: UInt32) -> Bool { closing.isFull(user) }

    private func countClosing(_ count: Int, for share: WorkerShare) {
        guard let user = share.user, closing.change(user, by: count) else { return }
        onClosingChange?(user)
    }

    /// The worker for the jobs of one share.
    public func access(for share: WorkerShare) -> WorkerAccess { WorkerAccess(self, share: share) }

    /// The closer for files that are closed through this worker when their last reference is released.
    public var closer: WorkerCloser { WorkerCloser(loop: loop, link: link) }

    /// Statistics.
    public var statistics: WorkerStatistics {
        var result = counters
        result.threads = threads.count
        result.running = scheduler.running
        result.stalled = scheduler.stalled
        result.waiting = scheduler.waiting
        if let start = scheduler.oldestStartOfAll {
            result.longestMicroseconds = max(
                result.longestMicroseconds, MonotonicTime.read().microseconds(since: start))
        }
        return result
    }

    /// The clock of the loop's turn.
    public var now: MonotonicTime { loop.now }

    /// Whether no job runs or waits.
    public var isIdle: Bool { jobs.isEmpty }

    private func add<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void, share: WorkerShare, mayBeRefused: Bool
    ) throws(WorkerError) {
        lastTicket += 1
        let ticket = lastTicket
        guard scheduler.add(ticket, to: share, mayBeRefused: mayBeRefused) else {
            counters.refused += 1
            throw WorkerError(waiting: scheduler.waiting)
        }
        counters.mostWaiting = max(counters.mostWaiting, scheduler.waiting)
        jobs[ticket] = ResultJob(ticket: ticket, link: link, work, then: then)
        startNext()
    }

    /// A thread has done a job.
    func finish(_ job: WorkerJob) {
        counters.jobs += 1
        counters.longestMicroseconds = max(counters.longestMicroseconds, job.microseconds)
        scheduler.finish(job.ticket)
        jobs[job.ticket] = nil
        startNext()
        job.complete()
    }

    private func startNext() {
        guard scheduler.waiting > 0 else { return }
        let now = MonotonicTime.read()
        if now.nanoseconds > UInt64(Worker.stallMilliseconds) * 1_000_000 {
            scheduler.markStalled(
                before: MonotonicTime(nanoseconds: now.nanoseconds - UInt64(Worker.stallMilliseconds) * 1_000_000))
        }
        while let ticket = scheduler.next(at: now) {
            guard let job = jobs[ticket] else { continue }
            if !threads.run(job) { loop.arm(threadTimer, afterMilliseconds: Worker.threadRetryMilliseconds) }
        }
        guard scheduler.waiting > 0, let oldest = scheduler.oldestStart else { return }
        loop.arm(stallTimer, at: oldest.advanced(milliseconds: Worker.stallMilliseconds))
    }

    private func startMissingThreads() {
        if !threads.startMissing() { loop.arm(threadTimer, afterMilliseconds: Worker.threadRetryMilliseconds) }
    }
}
