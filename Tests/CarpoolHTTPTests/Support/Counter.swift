import Glibc

/// Counts across threads, and lets one wait for another.
final class Counter: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var count = 0

    init() {
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    func add() {
        pthread_mutex_lock(mutex)
        count += 1
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }

    var value: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return count
    }

    /// Blocks until it has reached a number.
    func wait(for number: Int) {
        pthread_mutex_lock(mutex)
        while count < number { pthread_cond_wait(changed, mutex) }
        pthread_mutex_unlock(mutex)
    }
}
