import Testing

@testable import CarpoolSystem

struct ShareTurnsTests {
    private static func share(_ client: Int, user: UInt32) -> WorkerShare {
        WorkerShare(user: user, client: "\(client)")
    }

    @Test func theOrderIsThatOfArrivalForAllUsers() {
        var turns = ShareTurns()
        let shares = (1...300).map { Self.share($0, user: UInt32($0 % 3)) }
        for share in shares { turns.append(share) }
        for share in shares { #expect(turns.takeFirst { _ in true } == share) }
        #expect(turns.takeFirst { _ in true } == nil)
    }

    @Test func aShareThatMayNotRunKeepsItsPlace() {
        var turns = ShareTurns()
        let (computing, other) = (Self.share(1, user: 1).computation, Self.share(1, user: 2))
        for share in [Self.share(1, user: 1), computing, other, .process] { turns.append(share) }
        #expect(turns.takeFirst { $0.user == 2 } == other)
        #expect(turns.takeFirst { $0.user == 2 } == nil)
        #expect(turns.takeFirst { $0.isComputation } == computing)
        #expect(turns.takeFirst { _ in true } == Self.share(1, user: 1))
        #expect(turns.takeFirst { _ in true } == .process)
    }

    @Test func b1SharesOfAUserAtItsLimitCostNothing() {
        var turns = ShareTurns()
        for client in 1...8_192 { turns.append(Self.share(client, user: 1)) }
        turns.append(Self.share(1, user: 2))
        var asked = 0
        let found = turns.takeFirst {
            asked += 1
            return $0.user == 2
        }
        #expect(found == Self.share(1, user: 2) && asked <= 2)
    }
}
