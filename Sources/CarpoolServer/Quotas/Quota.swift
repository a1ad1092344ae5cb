/// Counts how much of one resource each user and each client of a user holds, and decides whether one of them may take
/// more.
///
/// A user has its own limit, so that more client names win nothing from another user. While other users hold something
/// too, no user gets more than half of all, and while other clients of a user hold something, no client gets more than
/// half of its user's limit. A holder that is refused although it holds less than others gets room first: as long as it
/// waits, the others are limited to equal shares.
struct Quota {
    /// Whose limit refuses a client.
    enum Holder: String {
        case client
        case user
        case everyone = "all"
    }

    /// The most that may be held, and the names of these limits in the configuration.
    struct Bounds {
        let client: (name: StaticString, value: Int)
        let user: (name: StaticString, value: Int)
        let all: (name: StaticString, value: Int)
    }

    /// Why a client may not take more.
    struct Refusal: Error, Equatable {
        let holder: Holder
        /// The limit in the configuration.
        let limit: String
        /// How much the holder may have now.
        let value: Int

        /// Whether the value is a share of another holder's limit, because others hold or wait for some too.
        var isShare: Bool {
            switch holder {
            case .client: !limit.hasSuffix("_per_client")
            case .user: !limit.hasSuffix("_per_user")
            case .everyone: false
            }
        }
    }

    /// The holdings of one user's clients.
    private struct Share {
        var clients = Holdings<ClientIdentity>()
        /// A client that was refused because others of its user hold too much.
        var waiting: Waiting<ClientIdentity>?

        var used: Int { clients.sum }

        mutating func take(_ amount: Int, for client: ClientIdentity) {
            clients.add(amount, to: client)
            if waiting?.holder == client { waiting = nil }
        }

        /// Returns how much the client held of it.
        mutating func giveBack(_ amount: Int, for client: ClientIdentity) -> Int {
            let given = clients.remove(amount, from: client)
            if used == 0 { waiting = nil }
            return given
        }
    }

    private struct Waiting<Holder: Equatable> {
        let holder: Holder
        let until: Int
    }

    /// The users that hold something, and a few that did.
    private var users: [UInt32: Share] = [:]
    /// How many users hold something.
    private var holders = 0
    private var waiting: Waiting<UInt32>?
    /// How much is held in all.
    private(set) var used = 0
    /// Counts attempts, in place of a clock: a refused holder counts as waiting for the next attempts.
    private var attempts = 0

    /// Attempts after which a refused client no longer counts as waiting.
    private static let waitingAttempts = 1_000

    /// How much a client holds.
    func used(by client: ClientIdentity) -> Int { users[client.uid]?.clients[client] ?? 0 }

    /// How much a user holds.
    func used(by uid: UInt32) -> Int { users[uid]?.used ?? 0 }

    /// Why a client may not take so much more; `nil` if it may.
    mutating func refusal(of amount: Int, for client: ClientIdentity, _ bounds: Bounds) -> Refusal? {
        attempts += 1
        guard let refusal = check(amount, client, bounds) else { return nil }
        recordWaiting(refusal, client, bounds)
        return refusal
    }

    private func check(_ amount: Int, _ client: ClientIdentity, _ bounds: Bounds) -> Refusal? {
        let share = users[client.uid]
        let (ofUser, ofClient) = (share?.used ?? 0, share?.clients[client] ?? 0)
        let userLimit = min(bounds.user.value, bounds.all.value)
        if ofClient &+ amount > bounds.client.value {
            return Refusal(holder: .client, limit: "\(bounds.client.name)", value: bounds.client.value)
        }
        if let share, let fair = fairShare(of: client, holding: ofClient, in: share, userLimit),
            ofClient &+ amount > fair
        {
            return Refusal(holder: .client, limit: "\(bounds.user.name)", value: fair)
        }
        if ofUser &+ amount > bounds.user.value {
            return Refusal(holder: .user, limit: "\(bounds.user.name)", value: bounds.user.value)
        }
        if let fair = fairShare(of: client.uid, holding: ofUser, bounds.all.value), ofUser &+ amount > fair {
            return Refusal(holder: .user, limit: "\(bounds.all.name)", value: fair)
        }
        guard used &+ amount > bounds.all.value else { return nil }
        return Refusal(holder: .everyone, limit: "\(bounds.all.name)", value: bounds.all.value)
    }

    /// A client's limit while other clients of its user hold something or wait; `nil` if it is alone.
    private func fairShare(of client: ClientIdentity, holding held: Int, in share: Share, _ limit: Int) -> Int? {
        if let waiting = share.waiting, waiting.holder != client, waiting.until > attempts {
            return limit / (share.clients.count &+ (share.clients[waiting.holder] == 0 ? 1 : 0))
        }
        let others = share.clients.count &- (held == 0 ? 0 : 1)
        return others > 0 ? limit &- limit / 2 : nil
    }

    private func fairShare(of uid: UInt32, holding held: Int, _ limit: Int) -> Int? {
        if let waiting, waiting.holder != uid, waiting.until > attempts {
            return limit / max(1, holders &+ (used(by: waiting.holder) == 0 ? 1 : 0))
        }
        let others = holders &- (held == 0 ? 0 : 1)
        return others > 0 ? limit &- limit / 2 : nil
    }

    /// Records as waiting a holder that is refused because of others, and holds less than an equal share itself.
    private mutating func recordWaiting(_ refusal: Refusal, _ client: ClientIdentity, _ bounds: Bounds) {
        switch refusal.holder {
        case .client: return
        case .user where refusal.limit == "\(bounds.user.name)": recordWaiting(client, bounds)
        case .user: return
        case .everyone:
            // What the other clients of its user hold may be all that there is.
            recordWaiting(client, bounds)
            let held = used(by: client.uid)
            let equal = bounds.all.value / (holders &+ (held == 0 ? 1 : 0))
            guard held < equal, waiting.map({ $0.until <= attempts }) ?? true else { return }
            waiting = Waiting(holder: client.uid, until: attempts &+ Quota.waitingAttempts)
        }
    }

    /// Records a client as waiting for what the other clients of its user hold.
    private mutating func recordWaiting(_ client: ClientIdentity, _ bounds: Bounds) {
        guard var share = users[client.uid], share.used > 0, share.waiting.map({ $0.until <= attempts }) ?? true
        else { return }
        let held = share.clients[client]
        let equal = min(bounds.user.value, bounds.all.value) / (share.clients.count &+ (held == 0 ? 1 : 0))
        guard held < equal else { return }
        share.waiting = Waiting(holder: client, until: attempts &+ Quota.waitingAttempts)
        users[client.uid] = share
    }

    /// Notes what a client has taken.
    mutating func take(_ amount: Int, for client: ClientIdentity) {
        guard amount > 0 else { return }
        used &+= amount
        if Quota.take(amount, client, &users[client.uid, default: Share()]) { holders += 1 }
        if waiting?.holder == client.uid { waiting = nil }
    }

    /// Notes what a client has returned.
    mutating func giveBack(_ amount: Int, for client: ClientIdentity) {
        guard amount > 0 else { return }
        let (given, isLast) = Quota.giveBack(amount, client, &users[client.uid, default: Share()])
        used &-= given
        guard isLast else { return }
        if given > 0 { holders -= 1 }
        if users.count > Quota.keptUsers { users[client.uid] = nil }
    }

    /// Users that are kept though they hold nothing: one request after the other costs no memory.
    private static let keptUsers = 64

    /// Returns whether the user held nothing before.
    private static func take(_ amount: Int, _ client: ClientIdentity, _ share: inout Share) -> Bool {
        defer { share.take(amount, for: client) }
        return share.used == 0
    }

    /// Returns how much was given back, and whether the user holds nothing now.
    private static func giveBack(_ amount: Int, _ client: ClientIdentity, _ share: inout Share) -> (Int, Bool) {
        let given = share.giveBack(amount, for: client)
        return (given, share.used == 0)
    }
}
