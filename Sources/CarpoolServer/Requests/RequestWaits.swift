internal import CarpoolSystem

/// The calls that wait for the end of one request. They are answered in their order: a few at once, many in slices, so
/// that many calls for one request do not block the loop.
final class RequestWaits: SlicedWork {
    private unowned let loop: EventLoop
    private let pendingAnswers: PendingAnswers
    private var queue = NumberedQueue<() -> Void>()

    /// Calls answered in the turn in which the request ends.
    private static let answeredAtOnce = 4

    init(loop: EventLoop, pendingAnswers: PendingAnswers) {
        self.loop = loop
        self.pendingAnswers = pendingAnswers
    }

    /// How many wait.
    var count: Int { queue.count }

    /// Adds a call; the body answers it. Returns a number for ``remove(_:)``.
    func add(_ body: @escaping () -> Void) -> Int { queue.append(body) }

    /// Removes a call that waits no longer.
    func remove(_ number: Int) { queue.remove(number) }

    /// Answers all that wait.
    func requestDidFinish() {
        guard count > RequestWaits.answeredAtOnce else {
            while let body = queue.popFirst() { body() }
            return
        }
        pendingAnswers.requestsWithWaitingCalls += 1
        loop.runInSlices(self)
    }

    func runSlice() -> Bool {
        let slice = TimeSlice(microseconds: 500)
        for _ in 0..<64 {
            queue.popFirst()?()
            if queue.isEmpty || slice.isOver { break }
        }
        if queue.isEmpty { pendingAnswers.requestsWithWaitingCalls -= 1 }
        return !queue.isEmpty
    }
}
