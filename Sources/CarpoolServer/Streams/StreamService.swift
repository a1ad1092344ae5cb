internal import CarpoolHTTP
internal import CarpoolSystem

/// What the readers of response streams, and raw streams, have in common.
final class StreamService {
    let rawStreamPool: RawStreamPool
    let readerQuota = QuotaLedger()
    let rawStreamQuota = QuotaLedger()
    /// What readers of streams send at once in a turn.
    let budget: DeliveryBudget
    private var lastNumber = 0

    init(loop: EventLoop, rawStreamPool: RawStreamPool) {
        self.rawStreamPool = rawStreamPool
        budget = DeliveryBudget(loop: loop)
    }

    /// The number of the next reader or raw stream.
    func nextNumber() -> Int {
        lastNumber &+= 1
        return lastNumber
    }
}
