internal import CarpoolHTTP
internal import CarpoolSystem

/// Numbers, quotas and budget of the readers of response streams, and of raw streams.
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
        lastNumber += 1
        return lastNumber
    }
}
