/// A quota whose shares are returned when their tickets are released.
final class QuotaLedger {
    /// Part of a quota, held as long as this object lives.
    final class Ticket {
        private let ledger: QuotaLedger
        private let client: ClientIdentity
        private let amount: Int

        fileprivate init(_ ledger: QuotaLedger, _ client: ClientIdentity, _ amount: Int) {
            self.ledger = ledger
            self.client = client
            self.amount = amount
        }

        deinit { ledger.quota.giveBack(amount, for: client) }
    }

    fileprivate var quota = Quota()

    /// How much is held in all.
    var used: Int { quota.used }

    /// Takes an amount for a client, or throws why it cannot have it.
    func take(
        _ amount: Int = 1, for client: ClientIdentity, _ bounds: Quota.Bounds
    ) throws(Quota.Refusal) -> Ticket {
        if let refusal = quota.refusal(of: amount, for: client, bounds) { throw refusal }
        quota.take(amount, for: client)
        return Ticket(self, client, amount)
    }
}
