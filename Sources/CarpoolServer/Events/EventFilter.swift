/// What somebody wants to hear, decided without the event itself being built.
struct EventFilter {
    /// About what.
    enum Scope {
        /// The requests of the subscriber's own client.
        case mine(ClientIdentity)
        /// Those of one session.
        case session(String)
        /// One request.
        case request(EventSubject)
        /// All.
        case all
    }

    /// Types and patterns of types, as they were asked for.
    let patterns: [String]
    let scope: Scope
    /// The types that the patterns stand for.
    let types: EventTypeSet

    init(patterns: [String], scope: Scope) {
        self.patterns = patterns
        self.scope = scope
        types = EventTypeSet(patterns: patterns)
    }

    /// Whether the event is wanted.
    @inline(__always)
    func wants(_ type: Int, about subject: EventSubject?) -> Bool { types.contains(type) && follows(subject) }

    /// Whether the event is about something that the subscriber follows. An event that belongs to no request is for everybody, but for those
    /// who follow a single request.
    func follows(_ subject: EventSubject?) -> Bool {
        switch scope {
        case .all: true
        case .request(let request): subject === request
        case .session(let name): subject.map { $0.session == name } ?? true
        case .mine(let identity): subject?.client.map { $0 == identity } ?? true
        }
    }
}
