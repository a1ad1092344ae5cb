internal import CarpoolJSON

/// What an event is about: a session, or one request of a client. Made once for each request, so that what all of its events have in
/// common is encoded once.
final class EventSubject {
    /// The session.
    let session: String
    /// Whose request it is; `nil` for a session, and for requests that nobody asked for, such as those for tokens.
    let client: ClientIdentity?
    private let request: String?
    private let connection: Int?

    /// A request, and the connection that made it.
    init(session: String, request: String, client: ClientIdentity? = nil, connection: Int? = nil) {
        self.session = session
        self.request = request
        self.client = client
        self.connection = connection
    }

    /// A session itself.
    init(session: String) {
        self.session = session
        request = nil
        client = nil
        connection = nil
    }

    /// The members that say so, with a comma before each.
    private(set) lazy var members: [UInt8] = {
        var writer = JSONWriter()
        writer.append(verbatim: [UInt8(ascii: ",")])
        writer.member("session", session)
        writer.member("request", request)
        writer.member("client", connection.map { "c-\($0)" })
        return writer.bytes
    }()
}
