internal import CarpoolHTTP

/// The access tokens that all requests of one user share: one for each ``TokenSource`` and way to its endpoint.
///
/// Requests that reach the endpoint in another way, by another proxy or with another trust, have a token of their own:
/// one that was obtained without verification is not used by a request that verifies.
public final class SharedTokens: SharedMemoryOwner {
    private struct Key: Hashable {
        let source: TokenSource
        let settings: ConnectionSettings?
    }

    private struct Entry {
        let interceptor: AuthenticationInterceptor
        var lastUse: Int
        /// What it takes beside the token.
        let bytes: Int
    }

    /// The most tokens that are kept; then the one that was used least recently is forgotten.
    public static let maximumCount = 64
    /// What the objects of an entry take.
    private static let entryBytes = 1_024

    private let session: Session
    private let memory: any SharedMemory
    private let makeRequestID: () -> String
    private var entries: [Key: Entry] = [:]
    private var uses = 0

    /// Makes an empty list.
    /// - Parameters:
    ///   - session: sends the token requests. It has no settings: those of connections are the requests'.
    ///   - memory: the account of the sources and the tokens.
    ///   - makeRequestID: returns an unused request id.
    public init(session: Session, memory: any SharedMemory, makeRequestID: @escaping () -> String) {
        self.session = session
        self.memory = memory
        self.makeRequestID = makeRequestID
    }

    /// How many tokens are kept.
    public var count: Int { entries.count }

    /// The interceptor that keeps the token of a source for a request.
    func interceptor(for source: TokenSource, of request: Request) -> AuthenticationInterceptor {
        let options = request.parameters.options.forTokenRequests
        let key = Key(source: source, settings: options.connectionSettings(for: source.origin))
        uses += 1
        if let known = entries[key] {
            entries[key]?.lastUse = uses
            return known.interceptor
        }
        let refresher = TokenEndpointRefresher(
            url: source.url, client: source.client, fields: source.fields,
            timeoutMilliseconds: source.timeoutMilliseconds, connection: options, makeRequestID: makeRequestID)
        let made = AuthenticationInterceptor(
            authenticator: OAuth2Authenticator(
                refresher: refresher, refreshBeforeMilliseconds: source.refreshBeforeMilliseconds),
            window: source.window, refreshTimeoutMilliseconds: source.timeoutMilliseconds,
            scheduler: session.scheduler, session: session)
        // A token may be longer than all that is known before it has arrived.
        made.didEndRefresh = { [weak self] in self?.makeRoom() }
        // They would keep the authorities and certificates of their requests in memory.
        entries = entries.filter { !$0.value.interceptor.isSpent }
        entries[key] = Entry(
            interceptor: made, lastUse: uses, bytes: SharedTokens.entryBytes &+ source.memoryBytes)
        makeRoom()
        return made
    }

    /// Forgets tokens until there is room for the others. Requests that wait for one of them still get it.
    private func makeRoom() {
        while entries.count > SharedTokens.maximumCount || !memory.count(bytes, for: self), forgetOldest() {}
    }

    private var bytes: Int { entries.values.reduce(0) { $0 &+ $1.bytes &+ $1.interceptor.tokenBytes } }

    /// Returns `false` if there is none.
    private func forgetOldest() -> Bool {
        guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return false }
        entries[oldest.key] = nil
        return true
    }

    /// Forgets the half that was not used for the longest time.
    public func removeHalf() {
        let kept = entries.count / 2
        while entries.count > kept, forgetOldest() {}
        _ = memory.count(bytes, for: self)
    }
}

extension TransferOptions {
    /// The settings of connections, without a socket that is for one connection.
    fileprivate var forTokenRequests: TransferOptions {
        var options = TransferOptions()
        options.setConnection(self)
        if case .connected = addresses.value?.socket { options.addresses.set(.some(nil)) }
        return options
    }
}

extension AuthenticationInterceptor {
    /// The bytes of its tokens.
    fileprivate var tokenBytes: Int {
        (credential?.accessToken.utf8.count ?? 0) &+ (credential?.refreshToken?.utf8.count ?? 0)
    }
}
