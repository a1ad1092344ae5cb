import Testing

@testable import CarpoolHTTP

struct StormGovernorTests {
    @Test func letsOrdinaryWorkPass() {
        var governor = StormGovernor()
        for _ in 0..<1_000 {
            for _ in 0..<20 { #expect(governor.acted(hasProgressed: false) == 0) }
            let result1 = governor.acted(hasProgressed: true)
            #expect(result1 == 0)
        }
    }

    @Test func restsLongerAndLongerWhileNothingMoves() {
        var governor = StormGovernor()
        let rests = (0..<200).map { _ in governor.acted(hasProgressed: false) }
        #expect(rests.prefix(64).allSatisfy { $0 == 0 })
        #expect(Array(rests[64..<84]) == Array(1...20))
        #expect(rests.suffix(100).allSatisfy { $0 == 20 })
        let result2 = governor.acted(hasProgressed: true)
        #expect(result2 == 0)
        let result3 = governor.acted(hasProgressed: false)
        #expect(result3 == 0)
    }
}
