internal import CarpoolHTTP
internal import CarpoolSession
internal import CarpoolSystem

/// Who the client of one connection is: what the kernel says of the peer, and what the client says of itself in
/// `client.hello`.
final class ClientProfile {
    /// The number of the connection.
    let number: Int
    let credentials: PeerCredentials
    /// The process at the other end, as far as the kernel knows.
    var pid: Int32 { credentials.pid }
    /// The identity that quotas go by: at first the peer's session or program, then the name that the client gives.
    private(set) var identity: ClientIdentity
    private(set) var version: String?
    /// The longest line that the client accepts.
    private(set) var maximumLineBytes: Int
    /// The `User-Agent` of its requests, unless they or their session set another.
    lazy var userAgent = makeUserAgent()
    private var name: String?
    /// The name of the peer's program, read when it is first needed.
    private lazy var programName = ClientIdentity.programName(ofProcess: credentials.pid)

    init(number: Int, credentials: PeerCredentials, identity: ClientIdentity, maximumLineBytes: Int) {
        self.number = number
        self.credentials = credentials
        self.identity = identity
        self.maximumLineBytes = maximumLineBytes
    }

    /// The name for people: the one that the client gave, or that of its program.
    var displayName: String { name ?? programName }

    /// Sets what the client says of itself.
    func introduce(name: String?, version: String?, maximumLineBytes: Int?) {
        if let name {
            self.name = name
            identity = ClientIdentity(uid: credentials.uid, name: name)
        }
        if let version { self.version = version }
        if name != nil || version != nil { userAgent = makeUserAgent() }
        if let maximumLineBytes { self.maximumLineBytes = maximumLineBytes }
    }

    private func makeUserAgent() -> HTTPField? {
        try? HTTPField(name: "User-Agent", value: DefaultFields.userAgent(client: displayName, version: version))
    }
}
