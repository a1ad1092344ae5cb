@testable import CarpoolServer
import Testing

struct HoldingsTests {
    @Test("Sum and count follow additions and releases; more than the sum cannot be released")
    func books() {
        var holdings = Holdings<Int>()
        holdings.add(2, to: 1)
        holdings.add(3, to: 2)
        holdings.add(1, to: 1)
        #expect((holdings[1], holdings[2], holdings[3]) == (3, 3, 0))
        #expect((holdings.sum, holdings.count) == (6, 2))
        let some = holdings.remove(1, from: 1)
        let rest = holdings.remove(9, from: 2)
        let nothing = holdings.remove(1, from: 2)
        #expect((some, rest, nothing) == (1, 3, 0))
        #expect((holdings.sum, holdings.count) == (2, 1))
        holdings.add(1, to: 2)
        #expect((holdings.sum, holdings.count) == (3, 2))
    }

    @Test("The table stays small, however many holders there were")
    func places() {
        var holdings = Holdings<Int>()
        for holder in 0..<10_000 {
            holdings.add(1, to: holder)
            #expect(holdings.remove(1, from: holder) == 1)
        }
        #expect(holdings.places <= 65)
        for holder in 0..<1_000 { holdings.add(1, to: holder) }
        for holder in 0..<1_000 { _ = holdings.remove(1, from: holder) }
        #expect(holdings.places <= 65)
        #expect((holdings.sum, holdings.count) == (0, 0))
    }
}
