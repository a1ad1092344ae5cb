internal import CarpoolJSON

/// What an event is about: a session, one request of a client, or something else that belongs to one user. Made once
/// for each request, so that what all of its events have in common is encoded once.
final class EventSubject {
    /// The session; `nil` if the event is about neither a session nor a request.
    let session: String?
    /// The user to whom it belongs.
    let uid: UInt32
    /// Whose request it is; `nil` for a session, and for requests that no client asked for, such as those for tokens.
    let client: ClientIdentity?
    private let request: String?
    private let connection: Int?

    /// A request, and the connection that made it.
    init(session: String, uid: UInt32, request: String, client: ClientIdentity? = nil, connection: Int? = nil) {
        self.session = session
        self.uid = uid
        self.request = request
        self.client = client
        self.connection = connection
    }

    /// A session itself, or, without a name, something else of a user's, such as a connection of the pool.
    init(session: String?, uid: UInt32) {
        self.session = session
        self.uid = uid
        request = nil
        client = nil
        connection = nil
    }

    /// The name that the client has given, if it has.
    var clientName: String? {
        guard case .given(let name)? = client?.name else { return nil }
        return name
    }

    /// The encoded members `session`, `request` and `client`, each with a leading comma; empty without a session.
    private(set) lazy var members: [UInt8] = {
        guard let session else { return [] }
        var writer = JSONWriter()
        writer.append(verbatim: [UInt8(ascii: ",")])
        writer.member("session", session)
        writer.member("request", request)
        writer.member("client", connection.map { "c-\($0)" })
        return writer.bytes
    }()
}
