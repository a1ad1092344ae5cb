internal import CarpoolSession

/// The access tokens that the daemon obtains, for the requests of each user.
final class TokenService: TokenProvider {
    /// The name of the sessions that send the token requests, as events have it; no client can create one of it. They
    /// are in no list.
    private static let sessionName = "(oauth2)"

    private let sessions: SessionService
    private let makeID: () -> String
    /// The memory of all tokens.
    private let accounts: MemoryAccounts
    private var users: [UInt32: SharedTokens] = [:]

    /// - Parameter makeID: returns an unused request id.
    init(sessions: SessionService, configuration: LiveConfiguration, makeID: @escaping () -> String) {
        self.sessions = sessions
        accounts = MemoryAccounts(of: "tokens") { [configuration] in configuration.limits.tokenBounds }
        self.makeID = makeID
    }

    func makeRequestID() -> String { makeID() }

    func tokens(of uid: UInt32) -> SharedTokens {
        if let known = users[uid] { return known }
        let session = sessions.make(name: TokenService.sessionName, of: uid, SessionConfiguration())
        let made = SharedTokens(session: session, memory: accounts.make(of: uid), makeRequestID: makeID)
        users[uid] = made
        return made
    }
}
