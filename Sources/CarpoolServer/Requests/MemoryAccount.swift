internal import CarpoolSession

/// The memory of one owner, such as a jar of cookies, as a part of its user's quota.
final class MemoryAccount: SharedMemory {
    let uid: UInt32
    /// The owner; `nil` before it has counted anything.
    private(set) weak var owner: (any SharedMemoryOwner)?
    private let accounts: MemoryAccounts
    private let client: ClientIdentity
    private var tickets: [QuotaLedger.Ticket] = []

    /// The unit in which memory is taken.
    private static let unit = 4_096

    fileprivate init(_ accounts: MemoryAccounts, uid: UInt32) {
        self.uid = uid
        self.accounts = accounts
        // It is its user's, whichever client uses it.
        client = ClientIdentity(uid: uid, name: .program(accounts.name))
    }

    deinit { accounts.remove(self) }

    /// How many bytes are counted.
    var bytes: Int { tickets.count &* MemoryAccount.unit }

    func count(_ bytes: Int, for owner: any SharedMemoryOwner) -> Bool {
        self.owner = owner
        let needed = (bytes &+ MemoryAccount.unit &- 1) / MemoryAccount.unit
        if needed < tickets.count { tickets.removeLast(tickets.count - needed) }
        while tickets.count < needed {
            do throws(Quota.Refusal) {
                tickets.append(try accounts.quota.take(MemoryAccount.unit, for: client, accounts.bounds()))
            } catch {
                guard accounts.makeRoom(for: self, needing: bytes, error.holder) else { return false }
            }
        }
        return true
    }
}

/// The accounts of all owners. When there is no room for one, the largest owner loses its half, and not the one that
/// needs the room.
final class MemoryAccounts {
    let name: String
    let quota = QuotaLedger()
    let bounds: () -> Quota.Bounds
    private var all: [ObjectIdentifier: Weak] = [:]

    private struct Weak {
        weak var account: MemoryAccount?
    }

    /// - Parameters:
    ///   - name: what is counted.
    ///   - bounds: returns the limits in force.
    init(of name: String, bounds: @escaping () -> Quota.Bounds) {
        self.name = name
        self.bounds = bounds
    }

    /// The account of one more owner, of a user.
    func make(of uid: UInt32) -> MemoryAccount {
        let account = MemoryAccount(self, uid: uid)
        all[ObjectIdentifier(account)] = Weak(account: account)
        return account
    }

    fileprivate func remove(_ account: MemoryAccount) { all[ObjectIdentifier(account)] = nil }

    /// Removes the half of the largest owner: of the same user, or of the user with the most. Returns `false` if that
    /// is the one that needs the room, or a smaller one.
    fileprivate func makeRoom(for needy: MemoryAccount, needing bytes: Int, _ holder: Quota.Holder) -> Bool {
        let accounts = all.values.compactMap(\.account)
        var uid = needy.uid
        if holder == .everyone {
            var sums: [UInt32: Int] = [:]
            for account in accounts { sums[account.uid, default: 0] += account.bytes }
            uid = sums.max { $0.value < $1.value }?.key ?? uid
        }
        let candidates = accounts.filter { $0.uid == uid && $0 !== needy }
        guard let largest = candidates.max(by: { $0.bytes < $1.bytes }), largest.bytes > bytes,
            let owner = largest.owner
        else { return false }
        owner.removeHalf()
        return true
    }
}
