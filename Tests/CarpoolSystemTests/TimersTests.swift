@testable import CarpoolSystem
import Testing

struct TimersTests {
    @Test func popsInOrderOfDeadlinesWhateverTheOrderOfArming() {
        var timers = Timers()
        var generator = SystemRandomNumberGenerator()
        let deadlines = (0..<500).map { _ in UInt64.random(in: 0..<200, using: &generator) }
        for deadline in deadlines { timers.arm(Timer {}, at: MonotonicTime(nanoseconds: deadline)) }
        var popped: [UInt64] = []
        while let timer = timers.popExpired(at: MonotonicTime(nanoseconds: 1_000)) {
            popped.append(timer.deadline.nanoseconds)
        }
        #expect(popped == deadlines.sorted())
        #expect(timers.count == 0)
    }

    @Test func cancellingAndMovingKeepTheOrder() {
        var timers = Timers()
        let all = (0..<200).map { _ in Timer {} }
        for (i, timer) in all.enumerated() { timers.arm(timer, at: MonotonicTime(nanoseconds: UInt64(i * 7 % 101))) }
        for (i, timer) in all.enumerated() where i % 3 == 0 { timers.cancel(timer) }
        for (i, timer) in all.enumerated() where i % 3 == 1 {
            timers.arm(timer, at: MonotonicTime(nanoseconds: UInt64(i * 13 % 89)))
        }
        var last: UInt64 = 0
        var count = 0
        while let timer = timers.popExpired(at: MonotonicTime(nanoseconds: 1_000)) {
            #expect(timer.deadline.nanoseconds >= last)
            #expect(!timer.isArmed)
            last = timer.deadline.nanoseconds
            count += 1
        }
        #expect(count == all.indices.filter { $0 % 3 != 0 }.count)
    }

    @Test func nothingIsPoppedBeforeItsTime() {
        var timers = Timers()
        let timer = Timer {}
        timers.arm(timer, at: MonotonicTime(nanoseconds: 10))
        #expect(timers.popExpired(at: MonotonicTime(nanoseconds: 9)) == nil)
        #expect(timer.isArmed)
        #expect(timers.popExpired(at: MonotonicTime(nanoseconds: 10)) === timer)
    }

    @Test func cancellingAnIdleTimerDoesNothing() {
        var timers = Timers()
        timers.cancel(Timer {})
        #expect(timers.next == nil)
    }

    @Test func aDeadlineSaturates() {
        #expect(MonotonicTime(nanoseconds: .max).advanced(milliseconds: 1).nanoseconds == .max)
        #expect(MonotonicTime(nanoseconds: 0).advanced(milliseconds: .max).nanoseconds == .max)
        #expect(MonotonicTime(nanoseconds: 5_000_001).advanced(milliseconds: -2).nanoseconds == 3_000_001)
        #expect(MonotonicTime(nanoseconds: 5).advanced(milliseconds: -1).nanoseconds == 0)
        #expect(MonotonicTime(nanoseconds: 5).advanced(milliseconds: .min).nanoseconds == 0)
        #expect(MonotonicTime(nanoseconds: 5).microseconds(since: MonotonicTime(nanoseconds: 9)) == 0)
    }
}
