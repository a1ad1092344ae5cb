internal import CarpoolRPC

/// Decides which events a subscriber gets, without the event being built.
struct EventFilter {
    /// About what.
    enum Scope {
        /// The requests of the subscriber's own client.
        case mine(ClientIdentity)
        /// Those of one session of a user's.
        case session(String, of: UInt32)
        /// One request.
        case request(EventSubject)
        /// Those of one user.
        case user(UInt32)
        /// Those of all users.
        case everyone
    }

    /// Types and patterns of types, as they were asked for.
    let patterns: [String]
    let scope: Scope
    /// The types that the patterns stand for.
    let types: EventTypeSet

    /// The users whose events may pass.
    var readers: EventJournal.Readership {
        switch scope {
        case .everyone: .everyone
        case .mine(let identity): .user(identity.uid)
        case .session(_, let uid), .user(let uid): .user(uid)
        case .request(let subject): .user(subject.uid)
        }
    }

    init(patterns: [String], scope: Scope) {
        self.patterns = patterns
        self.scope = scope
        types = EventTypeSet(patterns: patterns)
    }

    /// Whether the event passes.
    @inline(__always)
    func wants(_ type: EventType, about subject: EventSubject?) -> Bool { types.contains(type) && follows(subject) }

    /// Whether the event's subject passes. Events without a subject, such as a change of the network, pass for all but
    /// subscribers of a single request; a user's events that belong to no client pass for all clients of that user.
    func follows(_ subject: EventSubject?) -> Bool {
        guard let subject else {
            if case .request = scope { return false }
            return true
        }
        return switch scope {
        case .everyone: true
        case .user(let uid): subject.uid == uid
        case .request(let request): subject === request
        case .session(let name, let uid): subject.uid == uid && (subject.session.map { $0 == name } ?? true)
        case .mine(let identity): subject.client.map { $0 == identity } ?? (subject.uid == identity.uid)
        }
    }
}
