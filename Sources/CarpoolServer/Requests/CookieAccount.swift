internal import CarpoolSession

/// The memory of one jar, as a part of its user's quota.
final class CookieAccount: CookieMemory {
    private let quota: QuotaLedger
    private let client: ClientIdentity
    private let bounds: () -> Quota.Bounds
    private var tickets: [QuotaLedger.Ticket] = []

    /// The unit in which memory is taken.
    private static let unit = 4_096

    /// - Parameter bounds: returns the limits in force.
    init(_ quota: QuotaLedger, uid: UInt32, bounds: @escaping () -> Quota.Bounds) {
        self.quota = quota
        self.bounds = bounds
        // A jar is its user's, whichever client uses it.
        client = ClientIdentity(uid: uid, name: .program("cookies"))
    }

    func count(_ bytes: Int) -> Bool {
        let needed = (bytes &+ CookieAccount.unit &- 1) / CookieAccount.unit
        if needed < tickets.count { tickets.removeLast(tickets.count - needed) }
        while tickets.count < needed {
            do throws(Quota.Refusal) {
                tickets.append(try quota.take(CookieAccount.unit, for: client, bounds()))
            } catch {
                return false
            }
        }
        return true
    }
}
