internal import CarpoolJSON
internal import CarpoolSession

/// The sessions of all users.
///
/// A name belongs to the user who created the session, `default` included: no user finds, uses, changes or reserves a
/// name of another's. Those that the configuration file declares belong to the daemon's user.
struct SessionTable {
    /// One session, its configuration and its quotas.
    struct Entry {
        let session: Session
        /// The configuration as its creator gave it, or as it is in the configuration file.
        let configuration: JSON?
        /// Its creator's share of the sessions that there may be, and of the memory that a short configuration takes.
        /// The session holds the share of a long one, since requests keep their session.
        let tickets: [QuotaLedger.Ticket]
        /// What the configuration file says of it; `nil` if a client has created it.
        var declaration: Declaration?
        /// The connection with which it ends; `nil` if it is there until it is invalidated.
        var connection: Int?

        /// Whether a session of this name would be made of the same configuration: a changed file is another
        /// configuration, though its path is the same, and so is a changed password of a file.
        func isMade(of text: JSON?, _ configuration: SessionConfiguration) -> Bool {
            let areEmpty = (self.configuration?.count ?? 0) == 0 && (text?.count ?? 0) == 0
            let known = session.configuration
            return (areEmpty || self.configuration == text) && known.trust == configuration.trust
                && known.serverTrustManager == configuration.serverTrustManager
                && known.certificate == configuration.certificate && known.credentials == configuration.credentials
                && known.proxy?.http == configuration.proxy?.http && known.proxy?.https == configuration.proxy?.https
        }
    }

    /// The configuration of a declared session in its other forms.
    struct Declaration {
        /// As clients see it.
        let shown: JSON
        /// With the secrets of its files.
        let resolved: [UInt8]
    }

    /// What one user has. A class, so that the usual look-up of `default` hashes a number and copies nothing.
    private final class UserSessions {
        var standard: Session
        /// The entry of the `default` session, if it is declared.
        var declaredStandard: Entry?
        var named: [String: Entry] = [:]

        init(standard: Session) { self.standard = standard }
    }

    /// The name of the session that every user has.
    static let standardName = "default"

    private var users: [UInt32: UserSessions] = [:]
    /// The sessions with a name of their own; the `default` of each user is not counted.
    private(set) var created = 0

    /// How many sessions there are, each user's `default` included.
    var count: Int { created &+ users.count }

    /// How many sessions a user has, without `default`.
    func created(by uid: UInt32) -> Int { users[uid]?.named.count ?? 0 }

    /// A user's `default` session, which is made when the user first needs it.
    mutating func standard(of uid: UInt32, make: () -> Session) -> Session {
        if let known = users[uid] { return known.standard }
        let session = make()
        users[uid] = UserSessions(standard: session)
        return session
    }

    /// A session that a user has created, or that is declared; `nil` if the user has none of that name.
    func entry(_ name: String, of uid: UInt32) -> Entry? {
        guard name != SessionTable.standardName else { return users[uid]?.declaredStandard }
        return users[uid]?.named[name]
    }

    /// The names of a user's sessions, sorted, for suggestions; none if comparing all of them would take long.
    func names(of uid: UInt32) -> [String] {
        guard let named = users[uid]?.named, named.count <= 64 else { return [] }
        return named.keys.sorted()
    }

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

// Declared sessions. Their user has a `default` session already.
extension SessionTable {
    /// The names of a user's declared sessions, sorted.
    func declaredNames(of uid: UInt32) -> [String] {
        guard let user = users[uid] else { return [] }
        let named = user.named.filter { $0.value.declaration != nil }.keys
        return (named + (user.declaredStandard.map { [$0.session.name] } ?? [])).sorted()
    }

    /// Puts a declared session in the place of the one that has its name. Returns that one.
    mutating func replace(with entry: Entry, of uid: UInt32) -> Session? {
        guard let user = users[uid] else { return nil }
        if entry.session.name == SessionTable.standardName {
            let old = user.standard
            (user.standard, user.declaredStandard) = (entry.session, entry)
            return old
        }
        let old = user.named.updateValue(entry, forKey: entry.session.name)
        if old == nil { created += 1 }
        return old?.session
    }

    /// Removes a session that is no longer declared; its user keeps a `default` session. Returns the removed one.
    mutating func removeDeclared(_ name: String, of uid: UInt32, standard: () -> Session) -> Session? {
        guard let user = users[uid] else { return nil }
        guard name == SessionTable.standardName else {
            let old = user.named[name]?.session
            remove(name, of: uid)
            return old
        }
        let old = user.standard
        (user.standard, user.declaredStandard) = (standard(), nil)
        return old
    }
}
