import Glibc
import Synchronization
import Testing

@testable import CarpoolSystem

@Suite(.timeLimit(.minutes(1))) struct WorkerTests {
    /// Holds jobs until it is opened, as a disk that stalls does.
    private final class Gate: @unchecked Sendable {
        /// Each thread that passes lets the next one pass.
        private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        init() { sem_init(semaphore, 0, 0) }
        deinit {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }
        func open() { sem_post(semaphore) }
        func wait() {
            while sem_wait(semaphore) != 0 {}
            sem_post(semaphore)
        }
    }

    private static func share(_ client: String) -> WorkerShare { WorkerShare(user: 1, client: client) }

    private static func threadName() -> String {
        let file = try? FileDescriptor.open("/proc/thread-self/comm", O_RDONLY)
        guard let file, let text = try? Bytes.readAll(file.raw, atMost: 64, path: "") else { return "" }
        return String(decoding: text.dropLast(), as: UTF8.self)
    }

    @Test func aJobRunsOnANamedThreadWithoutSignalsAndAnswersOnTheLoop() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop)
        let main = UInt(bitPattern: pthread_self().hashValue)
        var answer: (name: String, blocked: Bool)?
        try worker.run(for: .process) {
            var set = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &set)
            return (Self.threadName(), sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGUSR1) == 1)
        } then: {
            #expect(UInt(bitPattern: pthread_self().hashValue) == main)
            answer = $0
            loop.stop()
        }
        #expect(answer == nil)
        loop.run()
        #expect(answer?.name == "carpool-file-1")
        #expect(answer?.blocked == true)
        #expect(worker.isIdle)
        #expect(worker.statistics.jobs == 1)
    }

    @Test func jobsOfOneClientThatStallDoNotHoldTheOthers() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop)
        let gate = Gate()
        for _ in 0..<50 {
            try worker.run(for: Self.share("stalled")) {
                gate.wait()
            } then: {
            }
        }
        var done = 0
        for client in 0..<20 {
            try worker.run(for: Self.share("client \(client)")) {
            } then: {
                done += 1
                if done == 20 { loop.stop() }
            }
        }
        loop.run()
        #expect(done == 20)
        let statistics = worker.statistics
        #expect(statistics.running - statistics.stalled == 2)
        #expect(statistics.waiting == 50 - statistics.running)
        #expect(statistics.threads <= 8 + statistics.stalled)
        gate.open()
    }

    @Test func aStalledDiskUnderManyClientsDoesNotHoldTheOthersForLong() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop)
        let gate = Gate()
        for client in 0..<8 {
            try worker.run(for: Self.share("stalled \(client)")) {
                gate.wait()
            } then: {
            }
        }
        try worker.run(for: Self.share("other")) {
        } then: {
            loop.stop()
        }
        loop.run()
        // How many were found to stall before the other had its turn is a matter of milliseconds; six is what a user
        // may have.
        #expect((1...6).contains(worker.statistics.stalled))
        gate.open()
    }

    @Test func threadsEndWhenThereIsNothingToDo() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop, limits: .init(), idleMilliseconds: 10)
        var look: Timer?
        look = Timer {
            if worker.statistics.threads == 0 { return loop.stop() }
            look.map { loop.arm($0, afterMilliseconds: 5) }
        }
        try worker.run(for: .process) {
        } then: {
            #expect(worker.statistics.threads == 1)
            look.map { loop.arm($0, afterMilliseconds: 5) }
        }
        loop.run()
        #expect(worker.statistics.threads == 0)
    }

    @Test func aFullQueueIsAnError() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop, limits: .init(waitingPerShare: 1), idleMilliseconds: 1_000)
        let gate = Gate()
        for _ in 0..<3 {
            try worker.run(for: Self.share("a")) {
                gate.wait()
            } then: {
            }
        }
        #expect(throws: WorkerError(waiting: 1)) {
            try worker.run(for: Self.share("a")) {
            } then: {
            }
        }
        #expect(worker.statistics.refused == 1)
        gate.open()
    }

    @Test func jobsOfAQueueRunInOrderAndOneAtATime() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop)
        let queue = WorkerQueue(worker: worker, share: Self.share("a"), limit: 100)
        let order = Mutex<[Int]>([])
        var answered: [Int] = []
        for number in 0..<100 {
            try queue.run {
                order.withLock { $0.append(number) }
                return number
            } then: {
                answered.append($0)
            }
        }
        queue.runLast({}, then: { loop.stop() })
        loop.run()
        #expect(order.withLock { $0 } == Array(0..<100))
        #expect(answered == Array(0..<100))
        #expect(queue.isIdle)
    }

    @Test(.serialized, arguments: [false, true])
    func b1OnlyPassedDescriptorsCountAsTooManyToClose(_ isPassed: Bool) throws {
        let loop = try EventLoop()
        // Few, because Foundation's processes, which other tests start, do not bear descriptors above 1,024.
        let closing = ClosingAccount(maximum: 20)
        let worker = Worker(loop: loop, limits: .init(), idleMilliseconds: 1_000, closing: closing)
        let access = worker.access(for: Self.share("a"))
        let gate = Gate()
        var wasFull = false
        worker.onClosingChange = { _ in wasFull = true }
        // They wait behind jobs that hold all threads of their user.
        for _ in 0..<50 { try worker.run(for: Self.share("a"), gate.wait) {} }
        var files = try (0..<closing.maximum).map { _ in
            WorkerFile(
                try FileDescriptor.open("/dev/null", O_RDONLY),
                closer: isPassed ? access.closerOfPassed : access.closer)
        }
        files = []
        loop.post { gate.open() }
        var look = {}
        look = { if worker.isIdle { loop.stop() } else { loop.arm(Timer { look() }, afterMilliseconds: 2) } }
        look()
        loop.run()
        #expect(files.isEmpty && wasFull == isPassed)
    }

    @Test func aFileIsClosedWhenItsLastReferenceGoes() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop)
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let peer = FileDescriptor(owning: ends[0])
        var file: WorkerFile? = WorkerFile(
            FileDescriptor(owning: ends[1]), closer: worker.access(for: .process).closer)
        // The peer sees the end; the number may be another test's by then.
        func isClosed() -> Bool {
            var look = pollfd(fd: peer.raw, events: 0, revents: 0)
            return poll(&look, 1, 0) == 1 && Int32(look.revents) & Int32(POLLHUP) != 0
        }
        let gate = Gate()
        try worker.run(for: .process) { [file] in
            gate.wait()
            return file.map { fcntl($0.raw, F_GETFD) } ?? -1
        } then: {
            #expect($0 >= 0)
        }
        file = nil
        gate.open()
        var again: Timer?
        again = Timer {
            if isClosed() { return loop.stop() }
            again.map { loop.arm($0, afterMilliseconds: 2) }
        }
        again.map { loop.arm($0, afterMilliseconds: 2) }
        loop.run()
        #expect(isClosed())
    }
}
