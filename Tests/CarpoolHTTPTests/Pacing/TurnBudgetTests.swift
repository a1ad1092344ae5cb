import Testing

@testable import CarpoolHTTP

struct TurnBudgetTests {
    /// Moves pieces of 16 KiB until the budget pauses the transfer; returns how many bytes were moved.
    func run(
        _ budget: inout TurnBudget, from own: Int = 0, share: Int = TurnBudget.bytesPerTurn, isShared: Bool = false
    )
        -> Int
    {
        var moved = own
        while !budget.mustWait(own: moved, share: share, isShared: isShared, isWhole: true), moved < 1 << 30 {
            budget.move(16_384)
            moved += 16_384
        }
        return moved - own
    }

    @Test func aTransferMovesItsShareAndNoMore() {
        var budget = TurnBudget()
        budget.begin(turn: 1)
        #expect(run(&budget, share: TurnBudget.smallestShare) == TurnBudget.smallestShare)
        #expect(!budget.isSpent)
    }

    @Test func allOfATurnMoveTheBudgetAndAFirstPieceEach() {
        var budget = TurnBudget()
        budget.begin(turn: 1)
        let moved = (0..<100).map { _ in run(&budget, share: TurnBudget.smallestShare) }
        #expect(moved.reduce(0, +) == TurnBudget.bytesPerTurn + 96 * 16_384)
        #expect(moved.allSatisfy { $0 >= 16_384 })
        budget.begin(turn: 1)
        #expect(budget.isSpent)
        budget.begin(turn: 2)
        #expect(!budget.isSpent)
    }

    @Test func aSharedConnectionIsPausedLate() {
        var budget = TurnBudget()
        budget.begin(turn: 1)
        #expect(run(&budget, share: TurnBudget.smallestShare, isShared: true) == TurnBudget.sharedBytesPerTurn)
    }

    @Test func theRestOfABufferIsTakenUpToALimit() {
        var budget = TurnBudget()
        budget.begin(turn: 1)
        let share = TurnBudget.smallestShare
        let early = budget.mustWait(own: share, share: share, isShared: false, isWhole: false)
        let late = budget.mustWait(own: 2 * share, share: share, isShared: false, isWhole: false)
        #expect(!early && late)
    }

    @Test func sharesAreSmallerTheMoreWait() {
        #expect(TurnBudget.share(waiting: 0) == TurnBudget.bytesPerTurn)
        #expect(TurnBudget.share(waiting: 1) == TurnBudget.bytesPerTurn / 2)
        #expect(TurnBudget.share(waiting: 100) == TurnBudget.smallestShare)
    }

    /// B3: an origin that sends one byte at a time makes libcurl call back without end; the time of one action is
    /// limited too.
    @Test func b3AnActionThatGoesOnForLongEndsForAllOfItsTransfers() {
        var budget = TurnBudget()
        budget.begin(turn: 1)
        budget.beginAction()
        var callbacks = 0
        // Each callback moves a byte: no limit of bytes is ever reached.
        while !budget.mustWait(own: 1, share: .max, isShared: false, isWhole: false), callbacks < 1 << 30 {
            callbacks += 1
        }
        #expect(callbacks < 1 << 30)
        let other = budget.mustWait(own: 0, share: .max, isShared: true, isWhole: false)
        budget.beginAction()
        let later = budget.mustWait(own: 1, share: .max, isShared: false, isWhole: false)
        #expect(other && !later)
    }
}

struct PieceTrackerTests {
    @Test func knowsTheLastPieceOfABufferByTheOneBefore() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 131_072, alignment: 16)
        defer { buffer.deallocate() }
        var tracker = PieceTracker()
        func pieces(of length: Int) -> [Bool] {
            stride(from: 0, to: length, by: 16_384).map { start in
                tracker.isLast(UnsafeRawBufferPointer(rebasing: buffer[start..<min(length, start + 16_384)]))
            }
        }
        _ = pieces(of: 131_072)
        #expect(pieces(of: 131_072) == Array(repeating: false, count: 7) + [true])
        #expect(pieces(of: 20_000) == [false, true])
        // Records of TLS come one by one.
        _ = pieces(of: 16_384)
        #expect(pieces(of: 16_384) == [true])
    }
}
