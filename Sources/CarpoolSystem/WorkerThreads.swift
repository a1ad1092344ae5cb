internal import CLinux
internal import Glibc

/// The threads of a ``Worker``: they take jobs from a short list, run them, and end after a while without any. The
/// list is shared between the threads and the loop, behind its lock; the order of jobs is decided before, on the
/// loop.
///
/// `@unchecked Sendable` because all mutable state is accessed with the lock held. The lock is pthread's: a thread
/// waits on it with a condition and a time limit.
final class WorkerThreads: @unchecked Sendable {
    typealias Job = @Sendable () -> Void

    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let arrived = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let idleMilliseconds: Int
    private var ready: [Job] = []
    private var idle = 0
    private var threads = 0
    /// Threads that were created and have not taken a job yet.
    private var starting = 0
    private var started = 0

    init(idleMilliseconds: Int) {
        self.idleMilliseconds = idleMilliseconds
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(arrived, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    // Every thread holds a reference, so that none of them can be waiting here any more.
    deinit {
        pthread_cond_destroy(arrived)
        pthread_mutex_destroy(lock)
        arrived.deallocate()
        lock.deallocate()
    }

    /// The number of threads.
    var count: Int { withLock { threads } }

    /// Adds a job. `false` if it needs one more thread and the system has none; the job waits for ``startMissing()``
    /// or for a thread that becomes free.
    func run(_ job: @escaping Job) -> Bool {
        withLock {
            ready.append(job)
            pthread_cond_signal(arrived)
        }
        return startMissing()
    }

    /// Starts the threads that the ready jobs need in addition. Returns false if the system refuses one.
    func startMissing() -> Bool {
        while let name = withLock({ nameOfMissing() }) {
            let context = Unmanaged.passRetained(self)
            let error = CLinux_start_thread(name, WorkerThreads.body, context.toOpaque())
            if error != 0 {
                context.release()
                withLock {
                    threads -= 1
                    starting -= 1
                }
                return false
            }
        }
        return true
    }

    /// Reserves one more thread and returns its name; `nil` if the idle threads suffice.
    private func nameOfMissing() -> String? {
        guard ready.count > idle + starting else { return nil }
        threads += 1
        starting += 1
        started += 1
        // The kernel keeps 15 bytes of a name.
        return "carpool-file-\(started % 100)"
    }

    private static let body: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().serve()
    }

    private func serve() {
        var isFirst = true
        while let job = take(isFirst: isFirst) {
            job()
            isFirst = false
        }
    }

    /// The next job; `nil` after a while without any, upon which the thread is no longer counted.
    private func take(isFirst: Bool) -> Job? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        if isFirst { starting -= 1 }
        let deadline = WorkerThreads.time(afterMilliseconds: idleMilliseconds)
        idle += 1
        defer { idle -= 1 }
        while ready.isEmpty {
            var deadline = deadline
            if pthread_cond_timedwait(arrived, lock, &deadline) == ETIMEDOUT, ready.isEmpty {
                threads -= 1
                return nil
            }
        }
        return ready.removeFirst()
    }

    private static func time(afterMilliseconds milliseconds: Int) -> timespec {
        let nanoseconds = MonotonicTime.read().advanced(milliseconds: milliseconds).nanoseconds
        return timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}
