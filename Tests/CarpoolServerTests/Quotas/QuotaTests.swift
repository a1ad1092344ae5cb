@testable import CarpoolServer
import Testing

struct QuotaTests {
    private static func bounds(_ client: Int, _ user: Int, _ all: Int) -> Quota.Bounds {
        Quota.Bounds(client: ("per_client", client), user: ("per_user", user), all: ("all", all))
    }

    private static func client(_ uid: UInt32, _ name: String) -> ClientIdentity { ClientIdentity(uid: uid, name: name) }

    /// Takes one after the other until a refusal, or until this many.
    private static func fill(
        _ quota: inout Quota, _ client: ClientIdentity, _ bounds: Quota.Bounds, atMost most: Int = 10_000
    ) -> (taken: Int, refusal: Quota.Refusal?) {
        for count in 0..<most {
            if let refusal = quota.refusal(of: 1, for: client, bounds) { return (count, refusal) }
            quota.take(1, for: client)
        }
        return (most, nil)
    }

    /// Takes one; `inout` arguments inside of `#expect` are copies.
    private static func ask(_ quota: inout Quota, _ client: ClientIdentity, _ bounds: Quota.Bounds) -> Quota.Holder? {
        quota.refusal(of: 1, for: client, bounds)?.holder
    }

    @Test("B6: a refusal names the limit that was reached, its value and whose it is")
    func names() {
        var quota = Quota()
        let mine = Self.fill(&quota, Self.client(1, "a"), Self.bounds(3, 10, 100))
        #expect(mine.taken == 3)
        #expect(mine.refusal == Quota.Refusal(holder: .client, limit: "per_client", value: 3))
        quota = Quota()
        #expect(
            Self.fill(&quota, Self.client(1, "a"), Self.bounds(30, 10, 100)).refusal
                == Quota.Refusal(holder: .user, limit: "per_user", value: 10))
        quota = Quota()
        #expect(
            Self.fill(&quota, Self.client(1, "a"), Self.bounds(30, 30, 10)).refusal
                == Quota.Refusal(holder: .everyone, limit: "all", value: 10))
    }

    @Test("B6: many client names take nothing from another user")
    func madeUpNames() {
        var quota = Quota()
        let bounds = Self.bounds(100, 500, 1_000)
        var taken = 0
        for number in 0..<1_000 { taken += Self.fill(&quota, Self.client(1, "made-up-\(number)"), bounds).taken }
        #expect(taken <= 500)
        let filled8 = Self.fill(&quota, Self.client(2, "me"), bounds)
        #expect(filled8.taken == 100)
    }

    @Test(
        "A refused client gets what its user's other clients release, whichever limit was lowered",
        arguments: [(100, 10, 100), (100, 100, 10), (100, 10, 10)])
    func waitingInsideUser(client: Int, user: Int, all: Int) {
        var quota = Quota()
        let bounds = Self.bounds(client, user, all)
        let (hog, other) = (Self.client(1, "hog"), Self.client(1, "other"))
        #expect(Self.fill(&quota, hog, bounds).taken == 10)
        let first = Self.ask(&quota, other, bounds)
        #expect(first != nil)
        quota.giveBack(1, for: hog)
        let again = Self.ask(&quota, hog, bounds)
        #expect(again != nil, "the released one is the other's")
        let second = Self.ask(&quota, other, bounds)
        #expect(second == nil)
    }

    @Test("B6: inside a user no client gets more than half while another has something")
    func half() {
        var quota = Quota()
        let bounds = Self.bounds(1_000, 100, 1_000)
        let (hog, other) = (Self.client(1, "hog"), Self.client(1, "other"))
        #expect(quota.refusal(of: 1, for: other, bounds) == nil)
        quota.take(1, for: other)
        let result = Self.fill(&quota, hog, bounds)
        #expect(result.taken == 50)
        #expect(result.refusal == Quota.Refusal(holder: .client, limit: "per_user", value: 50))
        quota.giveBack(1, for: other)
        let filled9 = Self.fill(&quota, hog, bounds)
        #expect(filled9.taken == 50, "alone it may have all")
    }

    @Test("B6: a client that is refused because of others gets room before they take more")
    func waiting() {
        var quota = Quota()
        let bounds = Self.bounds(1_000, 100, 1_000)
        let (hog, other) = (Self.client(1, "hog"), Self.client(1, "other"))
        let filled10 = Self.fill(&quota, hog, bounds)
        #expect(filled10.taken == 100)
        let asked1 = Self.ask(&quota, other, bounds)
        #expect(asked1 == .user)
        quota.giveBack(1, for: hog)
        let asked2 = Self.ask(&quota, hog, bounds)
        #expect(asked2 == .client)
        let asked3 = Self.ask(&quota, other, bounds)
        #expect(asked3 == nil)
        quota.take(1, for: other)
        quota.giveBack(50, for: hog)
        let asked4 = Self.ask(&quota, hog, bounds)
        #expect(asked4 == nil)
    }

    @Test("B6: a user that is refused because of other users gets room before they take more")
    func waitingUser() {
        var quota = Quota()
        let all = Self.bounds(1_000, 1_000, 100)
        let (hog, stranger) = (Self.client(1, "hog"), Self.client(2, "stranger"))
        let filled11 = Self.fill(&quota, hog, all)
        #expect(filled11.taken == 100)
        let asked5 = Self.ask(&quota, stranger, all)
        #expect(asked5 == .everyone)
        quota.giveBack(10, for: hog)
        let asked6 = Self.ask(&quota, hog, all)
        #expect(asked6 == .user)
        let asked7 = Self.ask(&quota, stranger, all)
        #expect(asked7 == nil)
    }

    @Test("Released units are no longer counted, and no more than were taken")
    func back() {
        var quota = Quota()
        let client = Self.client(1, "a")
        quota.take(5, for: client)
        quota.take(0, for: client)
        quota.giveBack(3, for: client)
        #expect((quota.used, quota.used(by: client), quota.used(by: 1)) == (2, 2, 2))
        quota.giveBack(30, for: client)
        quota.giveBack(1, for: client)
        #expect((quota.used, quota.used(by: client), quota.used(by: 1)) == (0, 0, 0))
    }

    @Test("A ticket releases its share when it is freed")
    func tickets() throws {
        let ledger = QuotaLedger()
        let client = Self.client(1, "a")
        var tickets = [try ledger.take(for: client, Self.bounds(1, 2, 3))]
        #expect(throws: Quota.Refusal.self) { _ = try ledger.take(for: client, Self.bounds(1, 2, 3)) }
        #expect(ledger.used == 1)
        tickets = []
        #expect(ledger.used == 0)
        #expect(tickets.isEmpty)
    }

    @Test("A holder that has released everything no longer counts, and its share is free")
    func idle() {
        var quota = Quota()
        let bounds = Self.bounds(100, 100, 200)
        let clients = (0..<100).map { Self.client(1, "\($0)") }
        for client in clients { quota.take(1, for: client) }
        for client in clients { quota.giveBack(1, for: client) }
        for uid in UInt32(2)..<100 {
            quota.take(1, for: Self.client(uid, "a"))
            quota.giveBack(1, for: Self.client(uid, "a"))
        }
        #expect(quota.used == 0)
        let alone = Self.fill(&quota, Self.client(1, "0"), bounds)
        #expect(alone.taken == 100, "alone it reserves no share for others")
        quota.giveBack(100, for: Self.client(1, "0"))
        #expect(quota.used(by: 1) == 0)
        quota.giveBack(1, for: Self.client(7, "has nothing"))
        #expect(quota.used == 0)
    }
}
