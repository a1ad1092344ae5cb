/// A quota whose shares are given back when their tickets go.
final class QuotaLedger {
    /// Part of a quota, held as long as this object lives.
    final class Ticket {
        private let ledger: QuotaLedger
        private let client: ClientIdentity

        fileprivate init(_ ledger: QuotaLedger, _ client: ClientIdentity) {
            self.ledger = ledger
            self.client = client
        }

        deinit { ledger.quota.giveBack(1, for: client) }
    }

    fileprivate var quota = Quota()

    /// How much is held in all.
    var used: Int { quota.used }

    /// Takes one for a client, or says why it cannot have one.
    func take(for client: ClientIdentity, _ bounds: Quota.Bounds) throws(Quota.Refusal) -> Ticket {
        if let refusal = quota.refusal(of: 1, for: client, bounds) { throw refusal }
        quota.take(1, for: client)
        return Ticket(self, client)
    }
}
