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
    private let ready = PostList()
    private let taken = Mutex(PostQueue())
    private let jobs = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    /// The threads that start or wait for a job, less the jobs that no thread has begun. The loop subtracts one for a
    /// job and adds one for a thread; a thread adds one after the work of each job. A thread that takes a job changes
    /// both numbers.
    private let spare = Atomic<Int>(0)
    private let threads = Atomic<Int>(0)
    private var started = 0

    init(loop: EventLoop, idleMilliseconds: Int) {
        self.loop = loop
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
            let context = Unmanaged.passRetained(self)
            // The kernel keeps 15 bytes of a name.
            let error = CLinux_start_thread(
                "carpool-file-\(started % 100)", WorkerThreads.body, context.toOpaque())
            guard error == 0 else {
                Shortage.note(error)
                context.release()
                threads.subtract(1, ordering: .relaxed)
                spare.subtract(1, ordering: .relaxed)
                return false
            }
        }
        return true
    }

    // MARK: The threads

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().serve()
    }

    private func serve() {
        defer { Heap.trimOfThread() }
        while waitForJob() {
            // What the loop has freed of earlier jobs is in this thread's heap.
            Heap.trimOfThread()
            guard let job = takeJob() else { continue }
            job._withUnsafeGuaranteedRef { $0.run() }
            // Before the loop can add a job because of this one: it does not start another thread then.
            spare.add(1, ordering: .relaxed)
            loop.post(job)
        }
    }

    /// Waits for a job. `false` after a while without any, upon which the thread is no longer counted.
    private func waitForJob() -> Bool {
        while true {
            let deadline = MonotonicTime.read().advanced(milliseconds: idleMilliseconds)
            if CLinux_wait_for_semaphore(jobs, deadline.nanoseconds) == 0 { return true }
            if leaves() { return false }
        }
    }

    /// Whether this thread ends: no job counts on it.
    private func leaves() -> Bool {
        var spare = spare.load(ordering: .relaxed)
        while spare > 0 {
            let (isExchanged, current) = self.spare.weakCompareExchange(
                expected: spare, desired: spare - 1, ordering: .relaxed)
            if isExchanged {
                threads.subtract(1, ordering: .relaxed)
                return true
            }
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
