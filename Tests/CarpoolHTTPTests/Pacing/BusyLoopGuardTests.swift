import Testing

@testable import CarpoolHTTP

struct BusyLoopGuardTests {
    @Test func letsOrdinaryWorkPass() {
        var busyLoopGuard = BusyLoopGuard()
        for _ in 0..<1_000 {
            for _ in 0..<20 { #expect(busyLoopGuard.delayAfterCall(hasProgressed: false) == 0) }
            let result1 = busyLoopGuard.delayAfterCall(hasProgressed: true)
            #expect(result1 == 0)
        }
    }

    @Test func restsLongerAndLongerWhileNothingMoves() {
        var busyLoopGuard = BusyLoopGuard()
        let rests = (0..<200).map { _ in busyLoopGuard.delayAfterCall(hasProgressed: false) }
        #expect(rests.prefix(64).allSatisfy { $0 == 0 })
        #expect(Array(rests[64..<84]) == Array(1...20))
        #expect(rests.suffix(100).allSatisfy { $0 == 20 })
        let result2 = busyLoopGuard.delayAfterCall(hasProgressed: true)
        #expect(result2 == 0)
        let result3 = busyLoopGuard.delayAfterCall(hasProgressed: false)
        #expect(result3 == 0)
    }
}
