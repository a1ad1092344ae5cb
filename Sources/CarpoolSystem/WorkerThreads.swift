internal import CLinux
internal import Glibc
internal import Synchronization

/// The threads of a ``Worker``: they take jobs from a list, run them, return them to the loop, and end after a while
/// without any. The order of jobs is decided before, on the loop.
///
/// The loop never waits for a thread: it adds a job to a list without a lock and increments a semaphore. (A condition
/// would not do: with glibc before 2.41, signalling one waits until threads that were woken earlier have run.) Each
/// increment is one job, and only a thread that has decremented the semaphore takes one. The lock of the jobs that
/// were taken from the list is the threads' own.
///
/// `@unchecked Sendable` because the loop alone calls ``run(_:)`` and ``startMissing()`` and uses `started`; everything
/// else is atomic or locked.
final class WorkerThreads: @unchecked Sendable {
    private let loop: EventLoop
    private let idleMilliseconds: Int
    /// Whether the last thread does not end without another one in its place.
    private let keepsThread: Bool
    private let ready = PostList()
    private let taken = Mutex(PostQueue())
    private let jobs = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    /// The threads that start or wait for a job, less the jobs that no thread has begun. The loop subtracts one for a
    /// job and adds one for a thread; a thread adds one after the work of each job. A thread that takes a job changes
    /// both numbers.
    private let spare = Atomic<Int>(0)
    private let threads = Atomic<Int>(0)
    private var started = 0

    init(loop: EventLoop, idleMilliseconds: Int, keepsThread: Bool = false) {
        self.loop = loop
        self.keepsThread = keepsThread
        self.idleMilliseconds = idleMilliseconds
        sem_init(jobs, 0, 0)
    }

    // Every thread holds a reference, so that none of them can be waiting here any more.
    deinit {
        sem_destroy(jobs)
        jobs.deallocate()
    }

    /// The number of threads.
    var count: Int { threads.load(ordering: .relaxed) }

    /// Adds a job. `false` if it needs one more thread and the system has none; the job waits for ``startMissing()``
    /// or for a thread that becomes free.
    func run(_ job: Post) -> Bool {
        spare.subtract(1, ordering: .relaxed)
        ready.add(Unmanaged.passRetained(job))
        sem_post(jobs)
        return startMissing()
    }

    /// Starts the threads that the waiting jobs need in addition. Returns false if the system refuses one.
    func startMissing() -> Bool {
        while spare.load(ordering: .relaxed) < 0 {
            spare.add(1, ordering: .relaxed)
            threads.add(1, ordering: .relaxed)
            started += 1
            guard startThread("carpool-file-\(started % 100)") else {
                threads.subtract(1, ordering: .relaxed)
                spare.subtract(1, ordering: .relaxed)
                return false
            }
        }
        return true
    }

    /// Starts a thread; false if the system refuses it. The kernel keeps 15 bytes of its name.
    private func startThread(_ name: String) -> Bool {
        let context = Unmanaged.passRetained(self)
        let error = CLinux_start_thread(name, WorkerThreads.body, context.toOpaque())
        if error == 0 { return true }
        Shortage.note(error)
        context.release()
        return false
    }

    // MARK: The threads

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().serve()
    }

    private func serve() {
        defer { Heap.trimOfThread() }
        var hasServed = false
        while waitForJob(hasServed) {
            hasServed = true
            // What the loop has freed of earlier jobs is in this thread's heap.
            Heap.trimOfThread()
            guard let job = takeJob() else { continue }
            job._withUnsafeGuaranteedRef { $0.run() }
            // Before the loop can add a job because of this one: it does not start another thread then.
            spare.add(1, ordering: .relaxed)
            loop.post(job)
        }
    }

    /// How long the thread waits that stays, and has run no job: an idle process is not woken.
    private static let staysMilliseconds = 86_400_000

    /// Waits for a job. `false` after a while without any, upon which the thread is no longer counted, or another one
    /// is in its place: what its jobs have left in its heap and its cache is freed when it ends.
    private func waitForJob(_ hasServed: Bool) -> Bool {
        var milliseconds = idleMilliseconds
        while true {
            let deadline = MonotonicTime.read().advanced(milliseconds: milliseconds)
            if CLinux_wait_for_semaphore(jobs, deadline.nanoseconds) == 0 { return true }
            // Before a thread is started, which keeps a little of this thread's heap: it is not to lie at the end of
            // what can be returned.
            if hasServed { Heap.trimOfThread() }
            if leaves() || hasServed && keepsThread && startThread("carpool-file") { return false }
            if keepsThread, !hasServed { milliseconds = WorkerThreads.staysMilliseconds }
        }
    }

    /// Whether this thread ends: no job counts on it, and it is not the last one where one stays.
    private func leaves() -> Bool {
        let left = threads.subtract(1, ordering: .relaxed).newValue
        if !(left == 0 && keepsThread), takesSpare() { return true }
        threads.add(1, ordering: .relaxed)
        return false
    }

    private func takesSpare() -> Bool {
        var spare = spare.load(ordering: .relaxed)
        while spare > 0 {
            let (isExchanged, current) = self.spare.weakCompareExchange(
                expected: spare, desired: spare - 1, ordering: .relaxed)
            if isExchanged { return true }
            spare = current
        }
        return false
    }

    /// Takes the job that belongs to a decrement of the semaphore.
    private func takeJob() -> Unmanaged<Post>? {
        taken.withLock { taken in
            if taken.isEmpty { taken.takeAll(of: ready) }
            return taken.removeFirst()
        }
    }
}
