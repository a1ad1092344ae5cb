internal import CarpoolJSON
internal import CarpoolSession

/// The sessions of all users.
///
/// A name belongs to the user who created the session, `default` included: no user finds, uses, changes or reserves a
/// name of another's.
struct SessionTable {
    /// One session, its configuration and its quotas.
    struct Entry {
        let session: Session
        /// The configuration as its creator gave it.
        let configuration: JSON?
        /// Its creator's share of the sessions that there may be, and of the memory that a short configuration takes.
        /// The session holds the share of a long one, since requests keep their session.
        let tickets: [QuotaLedger.Ticket]
    }

    /// What one user has. A class, so that the usual look-up of `default` hashes a number and copies nothing.
    private final class UserSessions {
        let standard: Session
        var named: [String: Entry] = [:]

        init(standard: Session) { self.standard = standard }
    }

    /// The name of the session that every user has.
    static let standardName = "default"

    private var users: [UInt32: UserSessions] = [:]
    /// The sessions that clients created; the `default` of each user is not counted.
    private(set) var created = 0

    /// How many sessions there are, each user's `default` included.
    var count: Int { created &+ users.count }

    /// How many sessions a user has created.
    func created(by uid: UInt32) -> Int { users[uid]?.named.count ?? 0 }

    /// A user's `default` session, which is made when the user first needs it.
    mutating func standard(of uid: UInt32, make: () -> Session) -> Session {
        if let known = users[uid] { return known.standard }
        let session = make()
        users[uid] = UserSessions(standard: session)
        return session
    }

    /// A session that a user has created; `nil` if the user has none of that name.
    func entry(_ name: String, of uid: UInt32) -> Entry? { users[uid]?.named[name] }

    /// Adds a session under a name that is free.
    mutating func insert(_ entry: Entry, of uid: UInt32) {
        guard let user = users[uid], user.named.updateValue(entry, forKey: entry.session.name) == nil else { return }
        created += 1
    }

    /// Removes a session that a user has created.
    mutating func remove(_ name: String, of uid: UInt32) {
        guard users[uid]?.named.removeValue(forKey: name) != nil else { return }
        created -= 1
    }

    /// The sessions of a user, in the order of their names.
    func sessions(of uid: UInt32) -> [Session] {
        guard let user = users[uid] else { return [] }
        return ([user.standard] + user.named.values.map(\.session)).sorted { $0.name < $1.name }
    }

    /// Every session with its user, in the order of the users and of the names.
    var all: [(uid: UInt32, session: Session)] {
        users.keys.sorted().flatMap { uid in sessions(of: uid).map { (uid, $0) } }
    }
}
