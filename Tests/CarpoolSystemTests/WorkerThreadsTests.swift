import Glibc
import Synchronization
import Testing

@testable import CarpoolSystem

/// The threads of a worker: each job runs once, whatever threads do meanwhile.
@Suite(.timeLimit(.minutes(1))) struct WorkerThreadsTests {
    private final class Job: Post, @unchecked Sendable {
        let number: Int
        private let work: @Sendable () -> Void
        private let then: () -> Void

        init(_ number: Int, _ work: @escaping @Sendable () -> Void = {}, then: @escaping () -> Void) {
            (self.number, self.work, self.then) = (number, work, then)
        }

        override func run() { work() }
        override func deliver(on loop: EventLoop) { then() }
    }

    /// Counts the runs of each job.
    private final class Runs: Sendable {
        private let counts: Mutex<[Int]>
        init(_ count: Int) { counts = Mutex([Int](repeating: 0, count: count)) }
        func add(_ number: Int) { counts.withLock { $0[number] += 1 } }
        var all: [Int] { counts.withLock { $0 } }
    }

    @Test(arguments: [1, 3, 8]) func eachJobRunsOnceHoweverManyRunAtATime(_ atATime: Int) throws {
        let loop = try EventLoop()
        let threads = WorkerThreads(loop: loop, idleMilliseconds: 1_000)
        let (jobs, runs) = (5_000, Runs(5_000))
        var (begun, done) = (0, 0)
        var isRefused = false
        func begin() {
            let number = begun
            begun += 1
            let isRunning = threads.run(
                Job(number, { runs.add(number) }) {
                    done += 1
                    if begun < jobs { begin() }
                    if done == jobs { loop.stop() }
                })
            isRefused = isRefused || !isRunning
        }
        for _ in 0..<atATime { begin() }
        loop.run()
        #expect(runs.all.allSatisfy { $0 == 1 })
        #expect(!isRefused)
        #expect(threads.count <= atATime)
    }

    @Test("Threads that give up waiting at the moment at which a job arrives lose none", arguments: [0, 1])
    func timeouts(_ idleMilliseconds: Int) throws {
        let loop = try EventLoop()
        let threads = WorkerThreads(loop: loop, idleMilliseconds: idleMilliseconds)
        let (jobs, runs) = (1_000, Runs(1_000))
        var next: Timer?
        var (begun, done) = (0, 0)
        next = Timer {
            for _ in 0..<4 where begun < jobs {
                let number = begun
                begun += 1
                _ = threads.run(
                    Job(number, { runs.add(number) }) {
                        done += 1
                        if done == jobs { return loop.stop() }
                        if done == begun { next.map { loop.arm($0, afterMilliseconds: number % 3) } }
                    })
            }
        }
        next.map { loop.arm($0, afterMilliseconds: 0) }
        loop.run()
        next = nil
        #expect(runs.all.allSatisfy { $0 == 1 })
        var look: Timer?
        look = Timer { if threads.count == 0 { loop.stop() } else { look.map { loop.arm($0, afterMilliseconds: 1) } } }
        look.map { loop.arm($0, afterMilliseconds: 0) }
        loop.run()
        look = nil
        #expect(threads.count == 0)
    }

    @Test("A job is released on the loop, never by a thread")
    func release() throws {
        final class Token: Sendable {
            let owner = UInt(bitPattern: pthread_self().hashValue)
            let wrong: Runs
            init(_ wrong: Runs) { self.wrong = wrong }
            deinit { if UInt(bitPattern: pthread_self().hashValue) != owner { wrong.add(0) } }
        }
        let loop = try EventLoop()
        let threads = WorkerThreads(loop: loop, idleMilliseconds: 1_000)
        let wrong = Runs(1)
        var done = 0
        func begin() {
            let token = Token(wrong)
            _ = threads.run(
                Job(0, { withExtendedLifetime(token) {} }) {
                    done += 1
                    if done == 5_000 { loop.stop() } else if done <= 4_996 { begin() }
                })
        }
        for _ in 0..<4 { begin() }
        loop.run()
        #expect(wrong.all == [0])
    }

    @Test func aJobWaitsUntilTheSystemHasAThread() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let worker = Worker(loop: loop)
            // Less than the stack of a thread.
            var former = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &former)
            var limit = former
            limit.rlim_cur = rlim_t(try addressSpace() + 1_048_576)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            var result = 0
            try worker.run(for: .process, { 7 }) {
                result = $0
                loop.stop()
            }
            let threads = worker.statistics.threads
            loop.arm(
                Timer { setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &former) }, afterMilliseconds: 150)
            loop.run()
            exit(result == 7 && threads == 0 ? 0 : 1)
        }
    }
}

/// The size of this process's address space in bytes.
private func addressSpace() throws -> Int {
    let file = try FileDescriptor.open("/proc/self/statm", O_RDONLY)
    let text = String(decoding: try Bytes.readAll(file.raw, atMost: 128, path: ""), as: UTF8.self)
    return (text.split(separator: " ").first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
}
