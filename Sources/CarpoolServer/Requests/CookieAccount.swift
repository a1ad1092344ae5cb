internal import CarpoolSession

/// The memory of one jar, as a part of its user's quota.
final class CookieAccount: CookieMemory {
    let uid: UInt32
    /// The jar; `nil` before it has counted anything.
    private(set) weak var jar: CookieJar?
    private let accounts: CookieAccounts
    private let client: ClientIdentity
    private var tickets: [QuotaLedger.Ticket] = []

    /// The unit in which memory is taken.
    private static let unit = 4_096

    fileprivate init(_ accounts: CookieAccounts, uid: UInt32) {
        self.uid = uid
        self.accounts = accounts
        // A jar is its user's, whichever client uses it.
        client = ClientIdentity(uid: uid, name: .program("cookies"))
    }

    deinit { accounts.remove(self) }

    /// How many bytes are counted.
    var bytes: Int { tickets.count &* CookieAccount.unit }

    func count(_ bytes: Int, for jar: CookieJar) -> Bool {
        self.jar = jar
        let needed = (bytes &+ CookieAccount.unit &- 1) / CookieAccount.unit
        if needed < tickets.count { tickets.removeLast(tickets.count - needed) }
        while tickets.count < needed {
            do throws(Quota.Refusal) {
                tickets.append(try accounts.quota.take(CookieAccount.unit, for: client, accounts.bounds()))
            } catch {
                guard accounts.makeRoom(for: self, needing: bytes, error.holder) else { return false }
            }
        }
        return true
    }
}

/// The accounts of all jars. When there is no room for one, the largest jar loses cookies, and not the one that needs
/// the room.
final class CookieAccounts {
    let quota = QuotaLedger()
    let bounds: () -> Quota.Bounds
    private var all: [ObjectIdentifier: Weak] = [:]

    private struct Weak {
        weak var account: CookieAccount?
    }

    /// - Parameter bounds: returns the limits in force.
    init(bounds: @escaping () -> Quota.Bounds) { self.bounds = bounds }

    /// The account of one more jar of a user.
    func make(of uid: UInt32) -> CookieAccount {
        let account = CookieAccount(self, uid: uid)
        all[ObjectIdentifier(account)] = Weak(account: account)
        return account
    }

    fileprivate func remove(_ account: CookieAccount) { all[ObjectIdentifier(account)] = nil }

    /// Removes the half of the largest jar: of the same user, or of the user with the most. Returns `false` if that is
    /// the jar that needs the room, or a smaller one.
    fileprivate func makeRoom(for needy: CookieAccount, needing bytes: Int, _ holder: Quota.Holder) -> Bool {
        let accounts = all.values.compactMap(\.account)
        var uid = needy.uid
        if holder == .everyone {
            var sums: [UInt32: Int] = [:]
            for account in accounts { sums[account.uid, default: 0] += account.bytes }
            uid = sums.max { $0.value < $1.value }?.key ?? uid
        }
        let candidates = accounts.filter { $0.uid == uid && $0 !== needy }
        guard let largest = candidates.max(by: { $0.bytes < $1.bytes }), largest.bytes > bytes, let jar = largest.jar
        else { return false }
        jar.removeHalf()
        return true
    }
}
