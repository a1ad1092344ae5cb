import CarpoolSystem
import Glibc
import Synchronization
import Testing

struct EventLoopTests {
    private final class Recorder: ReadinessHandler, TurnObserver {
        var onReady: (Int32, Readiness) -> Void = { _, _ in }
        var onTurnEnd: () -> Void = {}
        func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) { onReady(fd, readiness) }
        func turnDidEnd() { onTurnEnd() }
    }

    @Test func timersRunInOrderAndOnce() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        let timers = [30, 10, 20].map { milliseconds in
            Timer {
                order.append(milliseconds)
                if milliseconds == 30 { loop.stop() }
            }
        }
        for (timer, milliseconds) in zip(timers, [30, 10, 20]) { loop.arm(timer, afterMilliseconds: milliseconds) }
        loop.run()
        #expect(order == [10, 20, 30])
    }

    @Test func aTimerThatArmsItselfForNowDoesNotStarveTheRest() throws {
        let loop = try EventLoop()
        var count = 0
        var again: Timer?
        again = Timer {
            count += 1
            again.map { loop.arm($0, at: loop.now) }
        }
        let end = Timer { loop.stop() }
        again.map { loop.arm($0, at: loop.now) }
        loop.arm(end, afterMilliseconds: 5)
        loop.run()
        #expect(count > 0)
        again.map { loop.cancel($0) }
        again = nil
    }

    @Test func aReadableDescriptorReachesItsHandler() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        let recorder = Recorder()
        var seen: Readiness = []
        recorder.onReady = { _, readiness in
            seen = readiness
            loop.stop()
        }
        loop.setInterest(.readable, for: pipe.readEnd.raw, handler: recorder)
        try Array("x".utf8).withUnsafeBytes { try Bytes.writeAll(pipe.writeEnd.raw, $0) }
        loop.run()
        #expect(seen == .readable)
        loop.forget(pipe.readEnd.raw)
    }

    @Test func anIdleDescriptorIsReportedOnceWhenItsPeerGoes() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        let recorder = Recorder()
        var reports = 0
        var turns = 0
        recorder.onReady = { _, readiness in
            reports += 1
            #expect(readiness.contains(.failed))
            loop.afterTurn(recorder)
        }
        // Each turn after the report looks at the descriptors once more.
        recorder.onTurnEnd = {
            turns += 1
            if turns < 10 { loop.afterTurn(recorder) } else { loop.stop() }
        }
        loop.setInterest(.readable, for: pipe.readEnd.raw, handler: recorder)
        loop.setInterest([], for: pipe.readEnd.raw, handler: recorder)
        pipe.closeWriteEnd()
        loop.run()
        #expect(reports == 1)
        loop.forget(pipe.readEnd.raw)
    }

    @Test func observersMayAskForAnotherTurn() throws {
        let loop = try EventLoop()
        let recorder = Recorder()
        var turns = 0
        recorder.onTurnEnd = {
            turns += 1
            if turns < 3 { loop.afterTurn(recorder) } else { loop.stop() }
        }
        loop.afterTurn(recorder)
        loop.run()
        #expect(turns == 3)
    }

    private final class Slices: SlicedWork {
        private let body: () -> Bool
        init(_ body: @escaping () -> Bool) { self.body = body }
        func runSlice() -> Bool { body() }
    }

    /// Takes so much time of the loop, as a long step would.
    private func spend(microseconds: Int) {
        let slice = TimeSlice(microseconds: microseconds)
        while !slice.isOver {}
    }

    @Test("B2: sliced work takes turns, and the loop does not sleep before it is done")
    func slices() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        for name in 1...2 {
            loop.runInSlices(
                Slices {
                    order.append(name)
                    if order.count == 6 { loop.stop() }
                    return order.count < 5
                })
        }
        loop.run()
        #expect(order == [1, 2, 1, 2, 1, 2])
    }

    @Test("B2: what a phase does not reach in its time waits for the next turn, in order")
    func phases() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        let recorders = (0..<50).map { number in
            let recorder = Recorder()
            recorder.onTurnEnd = {
                spend(microseconds: 1_000)
                order.append(number)
                if order.count == 50 { loop.stop() }
            }
            return recorder
        }
        for recorder in recorders { loop.afterTurn(recorder) }
        for number in 0..<50 {
            loop.post { spend(microseconds: 500) }
            loop.arm(Timer { spend(microseconds: 500) }, afterMilliseconds: number % 2)
        }
        loop.run()
        #expect(order == Array(0..<50))
        #expect(loop.gauge.longest < 50_000)
        #expect(loop.turns > 10)
    }

    @Test("RT-04: a timer counts from the moment at which it is armed, however long the turn has been")
    func timersInALongTurn() throws {
        let loop = try EventLoop()
        var (armed, fired) = (MonotonicTime.read(), MonotonicTime.read())
        let timer = Timer {
            fired = .read()
            loop.stop()
        }
        let begin = Timer {
            spend(microseconds: 30_000)
            armed = .read()
            loop.arm(timer, afterMilliseconds: 40)
        }
        loop.arm(begin, afterMilliseconds: 0)
        loop.run()
        #expect(fired.microseconds(since: armed) >= 40_000)
    }

    @Test("F2: what begins something new is called behind the others, and in every turn however many they are")
    func last() throws {
        let loop = try EventLoop()
        var order: [String] = []
        let begins = Recorder()
        begins.onTurnEnd = { order.append("begins") }
        let reports = (0..<10).map { number in
            let recorder = Recorder()
            recorder.onTurnEnd = {
                spend(microseconds: 1_000)
                order.append("reports")
                if number < 9 { loop.afterObservers(begins) } else { loop.stop() }
            }
            return recorder
        }
        loop.afterObservers(begins)
        for recorder in reports { loop.afterTurn(recorder) }
        loop.run()
        #expect(order.filter { $0 == "reports" }.count == 10)
        #expect(order.first == "reports")
        let turns = order.split(separator: "begins")
        #expect(turns.count > 1)
        // The time of the phase, and one step more.
        #expect(turns.allSatisfy { $0.count <= 5 })
    }

    @Test("Time in which the thread does not run but waits for something else is part of a turn")
    func sleeping() throws {
        let loop = try EventLoop()
        let timer = Timer {
            usleep(30_000)
            loop.stop()
        }
        loop.arm(timer, afterMilliseconds: 1)
        loop.run()
        #expect(loop.gauge.longest >= 29_000)
        // Up to a millisecond before the turn is not measured.
        #expect(loop.gauge.longestSleep >= 29_000)
        #expect(loop.gauge.slept >= loop.gauge.longestSleep)
        #expect(loop.gauge.longTurns.last?.slept == loop.gauge.longestSleep)
    }

    @Test("Waiting for events is no sleep, nor is work")
    func notSleeping() throws {
        let loop = try EventLoop()
        var turns = 0
        var again: Timer?
        again = Timer {
            spend(microseconds: 3_000)
            turns += 1
            if turns == 20 { loop.stop() } else { again.map { loop.arm($0, afterMilliseconds: 2) } }
        }
        again.map { loop.arm($0, afterMilliseconds: 2) }
        loop.run()
        again = nil
        #expect(turns == 20)
        // A host that stops the machine is seen as sleep if the thread has waited for a page meanwhile.
        #expect(loop.gauge.longestSleep < 2_000)
    }

    @Test func otherThreadsWakeTheLoopAndNothingIsLost() throws {
        let loop = try EventLoop()
        let count = Atomic<Int>(0)
        let threads = (0..<4).map { _ in
            Thread {
                for _ in 0..<1_000 {
                    loop.post { if count.add(1, ordering: .relaxed).newValue == 4_000 { loop.stop() } }
                }
            }
        }
        loop.run()
        for thread in threads { thread.join() }
        #expect(count.load(ordering: .relaxed) == 4_000)
        #expect(loop.turns > 0)
    }

    @Test func theBlocksOfAThreadRunInOrderAlsoIfTheyTakeMoreThanOneTurn() throws {
        let loop = try EventLoop()
        let order = Mutex<[Int]>([])
        let thread = Thread {
            for number in 0..<100 {
                loop.post {
                    order.withLock { $0.append(number) }
                    spend(microseconds: 100)
                    if number == 99 { loop.stop() }
                }
            }
        }
        loop.run()
        thread.join()
        #expect(order.withLock { $0 } == Array(0..<100))
        #expect(loop.turns > 1)
    }

    @Test func whatABlockPostsWaitsForTheNextTurn() throws {
        let loop = try EventLoop()
        let turns = Mutex<[Int]>([])
        loop.post {
            turns.withLock { $0.append(loop.turns) }
            loop.post {
                turns.withLock { $0.append(loop.turns) }
                loop.stop()
            }
        }
        loop.run()
        let seen = turns.withLock { $0 }
        #expect(seen.count == 2 && seen[0] < seen[1])
    }
}

/// A pipe whose ends close with it.
private final class Pipe {
    let readEnd: FileDescriptor
    private(set) var writeEnd: FileDescriptor

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError.last("pipe") }
        readEnd = FileDescriptor(owning: ends[0])
        writeEnd = FileDescriptor(owning: ends[1])
    }

    func closeWriteEnd() { writeEnd = FileDescriptor(owning: -1) }
}
