/// An action that runs at a deadline. Its owner creates it, arms it on an ``EventLoop``, and may re-arm or cancel it.
public final class Timer {
    var deadline = MonotonicTime(nanoseconds: .max)
    /// The index in the heap; -1 while not armed.
    var index = -1
    let action: () -> Void

    /// A timer that is not armed yet. The loop keeps an armed timer, and so its action, alive.
    public init(_ action: @escaping () -> Void) { self.action = action }

    /// Whether it waits for its deadline.
    public var isArmed: Bool { index >= 0 }
}

/// The armed timers as a binary heap by deadline: arming and cancelling cost O(log n), and a cancelled timer leaves
/// nothing behind.
struct Timers {
    private var heap: [Timer] = []

    var count: Int { heap.count }
    var next: MonotonicTime? { heap.first?.deadline }

    mutating func arm(_ timer: Timer, at deadline: MonotonicTime) {
        timer.deadline = deadline
        if timer.index < 0 {
            timer.index = heap.count
            heap.append(timer)
        }
        restoreOrder(timer.index)
    }

    mutating func cancel(_ timer: Timer) {
        let hole = timer.index
        guard hole >= 0 else { return }
        timer.index = -1
        let last = heap.removeLast()
        guard last !== timer else { return }
        heap[hole] = last
        last.index = hole
        restoreOrder(hole)
    }

    /// Removes and returns the first timer, if its deadline has passed.
    mutating func popExpired(at now: MonotonicTime) -> Timer? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        cancel(first)
        return first
    }

    private mutating func restoreOrder(_ start: Int) {
        var i = start
        while i > 0, heap[i].deadline < heap[(i - 1) / 2].deadline {
            swap(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
        while true {
            var least = i
            for child in [2 * i + 1, 2 * i + 2] where child < heap.count && heap[child].deadline < heap[least].deadline
            {
                least = child
            }
            if least == i { return }
            swap(i, least)
            i = least
        }
    }

    private mutating func swap(_ a: Int, _ b: Int) {
        heap.swapAt(a, b)
        heap[a].index = a
        heap[b].index = b
    }
}
