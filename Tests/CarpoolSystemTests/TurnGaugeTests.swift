@testable import CarpoolSystem
import Testing

struct TurnGaugeTests {
    @Test("A percentile is at most an eighth too large, and never above the longest")
    func percentiles() {
        var gauge = TurnGauge()
        for length in 1...10_000 { gauge.add(length) }
        #expect(gauge.count == 10_000)
        #expect(gauge.longest == 10_000)
        for (share, exact) in [(500, 5_000), (990, 9_900), (999, 9_990)] {
            #expect((exact...exact * 9 / 8).contains(gauge.percentile(perMille: share)))
        }
        #expect(gauge.percentile(perMille: 1_000) == 10_000)
    }

    @Test("One slow turn of a thousand is above the 99.9th percentile, two are not")
    func slowTurns() {
        var gauge = TurnGauge()
        for _ in 0..<999 { gauge.add(10) }
        gauge.add(90_000)
        #expect(gauge.percentile(perMille: 999) == 10)
        #expect(gauge.longest == 90_000)
        gauge.add(90_000)
        #expect(gauge.percentile(perMille: 999) == 90_000)
    }

    @Test("Every length has a bucket, and each bucket its octave")
    func buckets() {
        var gauge = TurnGauge()
        #expect(gauge.percentile(perMille: 999) == 0)
        for length in [-1, 0, 1, 7, 8, 15, 16, 1_000_000, .max] { gauge.add(length) }
        #expect(gauge.octaves.map(\.upTo) == [0, 1, 7, 15, 31, 1_048_575, (1 << 40) - 1])
        #expect(gauge.octaves.reduce(0) { $0 + $1.count } == gauge.count)
        #expect(gauge.count(above: 15) == 3)
    }

    @Test("Sleep is part of a turn, and counted by name")
    func sleep() {
        var gauge = TurnGauge()
        for slept in [0, 3_000, 5_000, 1_000] { gauge.add(6_000, waited: 500, slept: slept) }
        #expect(gauge.longest == 6_000)
        #expect(gauge.waited == 2_000)
        #expect(gauge.slept == 9_000)
        #expect(gauge.longestSleep == 5_000)
    }

    @Test("The latest eight long turns are kept")
    func longTurns() {
        var gauge = TurnGauge()
        let turns = (1...9).map {
            TurnGauge.LongTurn(end: MonotonicTime(nanoseconds: $0), wall: 30_000, waited: 1_000, slept: 0, processor: 0)
        }
        for turn in turns { gauge.record(turn) }
        #expect(gauge.longTurns == Array(turns.dropFirst()))
    }
}
