internal import CarpoolSystem

/// The look-ups of hosts' names that run, and the transfers that wait for one. A value: events in, decisions out.
///
/// libcurl makes each look-up in a thread, which ends when the resolver answers or gives up: half a minute later if the
/// name server is silent, and also if its transfer has ended long before. Such a look-up is abandoned: it uses no
/// connection, and counts here only. Each process has limits of its own, so that one with a hundred dead names delays
/// neither other processes of its client nor requests that need no look-up.
struct LookupTable<Element: AnyObject> {
    /// The process for which a name is looked up.
    struct Owner: Hashable {
        let user: UInt32
        let process: Int32
    }

    /// The position of a transfer that waits.
    struct Place {
        fileprivate let owner: Owner
        fileprivate let token: Int
    }

    /// A look-up whose transfer has ended.
    struct Abandoned {
        let name: String
        /// When it was abandoned.
        let time: MonotonicTime
    }

    private struct Account {
        var running: [Element] = []
        /// The look-ups whose transfers have ended.
        var abandoned: [Abandoned] = []
        var waiting = FIFOQueue<Element>()

        var count: Int { running.count + abandoned.count }
        var isEmpty: Bool { count == 0 && waiting.isEmpty }
    }

    /// Look-ups of one process for transfers that exist: half of the connections that one client gets.
    static var maximumRunning: Int { 64 }
    /// Look-ups of one process, with the abandoned ones.
    static var maximumOfProcess: Int { 256 }
    /// All look-ups. A user gets no more than are left for others: so one user alone gets half of them.
    static var maximum: Int { 1_024 }

    private var accounts: [Owner: Account] = [:]
    private var countOfUser: [UInt32: Int] = [:]
    private var count = 0
    /// The number of transfers that wait.
    private(set) var waiting = 0
    /// The number of processes that have look-ups, or transfers that wait for one.
    var processes: Int { accounts.count }

    /// Begins a look-up; returns false if the process has too many.
    mutating func begin(_ element: Element, for owner: Owner) -> Bool {
        guard room(of: owner) > 0 else { return false }
        accounts[owner, default: Account()].running.append(element)
        add(1, owner)
        return true
    }

    /// The transfer of a look-up has ended, or its look-up has.
    /// - Parameter lookup: the look-up that goes on; `nil` if it has ended.
    mutating func end(_ element: Element, for owner: Owner, abandoning lookup: Abandoned?) {
        guard let index = accounts[owner]?.running.firstIndex(where: { $0 === element }) else { return }
        accounts[owner]?.running.remove(at: index)
        if let lookup { accounts[owner]?.abandoned.append(lookup) } else { add(-1, owner) }
        forgetIfEmpty(owner)
    }

    /// Lets a transfer wait until its process may begin a look-up.
    mutating func wait(_ element: Element, for owner: Owner) -> Place {
        waiting += 1
        return Place(owner: owner, token: accounts[owner, default: Account()].waiting.append(element))
    }

    /// A transfer waits no longer.
    mutating func withdraw(_ place: Place) {
        guard accounts[place.owner]?.waiting.remove(place.token) != nil else { return }
        waiting -= 1
        forgetIfEmpty(place.owner)
    }

    /// The number of transfers of the same process that wait before one.
    func position(_ place: Place) -> Int { accounts[place.owner]?.waiting.distance(to: place.token) ?? 0 }

    /// The number of transfers of a user that wait.
    func waiting(of user: UInt32) -> Int {
        accounts.reduce(0) { $1.key.user == user ? $0 + $1.value.waiting.count : $0 }
    }

    /// Forgets look-ups that have ended.
    mutating func sweep(isRunning: (Element) -> Bool, isLookedUp: (Abandoned) -> Bool) {
        for owner in Array(accounts.keys) {
            guard var account = accounts.removeValue(forKey: owner) else { continue }
            let before = account.count
            account.running.removeAll { !isRunning($0) }
            account.abandoned.removeAll { !isLookedUp($0) }
            add(account.count - before, owner)
            if !account.isEmpty { accounts[owner] = account }
        }
    }

    /// Takes the transfers out that may look up their hosts now.
    mutating func takeReady() -> [Element] {
        var ready: [Element] = []
        guard waiting > 0 else { return ready }
        for owner in Array(accounts.keys) {
            for _ in 0..<max(0, room(of: owner)) {
                guard let element = accounts[owner]?.waiting.popFirst() else { break }
                waiting -= 1
                ready.append(element)
            }
            forgetIfEmpty(owner)
        }
        return ready
    }

    /// A process without look-ups has no account: others come all the time.
    private mutating func forgetIfEmpty(_ owner: Owner) {
        if accounts[owner]?.isEmpty == true { accounts[owner] = nil }
    }

    /// The number of look-ups that a process may begin.
    private func room(of owner: Owner) -> Int {
        let free = LookupTable.maximum - count - countOfUser[owner.user, default: 0]
        guard let account = accounts[owner] else { return min(free, LookupTable.maximumRunning) }
        return min(
            free, LookupTable.maximumRunning - account.running.count, LookupTable.maximumOfProcess - account.count)
    }

    private mutating func add(_ change: Int, _ owner: Owner) {
        count += change
        let sum = countOfUser[owner.user, default: 0] + change
        countOfUser[owner.user] = sum > 0 ? sum : nil
    }
}
