internal import CarpoolSystem

/// Who may go, who waits, and when a credential is refreshed (AI-02 to AI-13): decides; ``AuthenticationInterceptor`` acts.
///
/// There is never more than one refresh under way, and every ticket that is handed in comes back in exactly one action.
struct AuthenticationState {
    /// One adaptation or one retry that asks.
    typealias Ticket = Int

    enum Action {
        /// The adaptation goes on with this credential.
        case apply(Ticket, OAuth2Credential)
        /// The adaptation fails.
        case refuse(Ticket, SessionError)
        /// The request is sent again.
        case retry(Ticket)
        /// The request fails with this error and its own.
        case giveUp(Ticket, SessionError)
        /// A new credential is to be got for this one; the ticket is one of those that wait for it.
        case refresh(number: Int, OAuth2Credential, for: Ticket)
    }

    private enum Trigger {
        case adaptation
        case retry
    }

    private enum Phase {
        case idle
        /// Superseded: somebody has set a credential meanwhile, so that the answer counts for nothing; but until it comes no other refresh begins.
        case refreshing(number: Int, Trigger, isSuperseded: Bool)
        /// Since then neither has the credential changed nor has a request been adapted.
        case failed(SessionError)
    }

    /// The most that wait for one refresh: as many as one client may have under way. Each costs some hundred bytes.
    static let maximumWaiting = 10_000

    private(set) var credential: OAuth2Credential?
    private var window: RefreshWindow?
    private var phase = Phase.idle
    private var adaptations: [Ticket] = []
    private var retries: [Ticket] = []
    /// Goes up with every new credential.
    private(set) var version = 0
    /// The last refresh, and for which version it was begun.
    private var last = (number: 0, version: 0)

    init(credential: OAuth2Credential?, window: RefreshWindow?) {
        self.credential = credential
        self.window = window
    }

    /// How many wait.
    var waiting: Int { adaptations.count + retries.count }

    // MARK: What happens

    /// A request is adapted (AI-02 to AI-06).
    /// - Parameters:
    ///   - requiresRefresh: Whether the present credential should be replaced before it is used.
    ///   - isGood: Whether it can still be used, if it cannot be replaced.
    mutating func adapt(
        _ ticket: Ticket, at now: MonotonicTime, requiresRefresh: Bool, isGood: Bool = false
    ) -> [Action] {
        guard let credential else { return [.refuse(ticket, .missingCredential)] }
        switch phase {
        case .refreshing(_, .adaptation, isSuperseded: false): break
        case .refreshing(_, .retry, isSuperseded: false): return [.apply(ticket, credential)]
        case .refreshing(_, _, isSuperseded: true), .idle, .failed:
            if case .failed = phase { phase = .idle }
            guard requiresRefresh else { return [.apply(ticket, credential)] }
        }
        guard waiting < AuthenticationState.maximumWaiting else { return [.refuse(ticket, .tooManyWaiting)] }
        adaptations.append(ticket)
        return beginRefreshIfIdle(at: now, isGood: isGood)
    }

    /// A request was refused for its credential (AI-07 to AI-09).
    /// - Parameter hasUsed: Whether it was sent with the present credential.
    mutating func retry(_ ticket: Ticket, at now: MonotonicTime, hasUsed: Bool) -> [Action] {
        guard credential != nil else { return [.giveUp(ticket, .missingCredential)] }
        guard hasUsed else { return [.retry(ticket)] }
        if case .failed(let error) = phase { return [.giveUp(ticket, error)] }
        guard waiting < AuthenticationState.maximumWaiting else { return [.giveUp(ticket, .tooManyWaiting)] }
        retries.append(ticket)
        return beginRefreshIfIdle(at: now, isGood: false)
    }

    /// A refresh has ended: with an answer, or because its time is over (AI-10, AI-11).
    /// - Parameter isGood: Whether the credential that was to be replaced can still be used.
    mutating func refreshEnded(
        _ number: Int, _ result: Result<OAuth2Credential, SessionError>, at now: MonotonicTime, isGood: Bool = false
    ) -> [Action] {
        guard case .refreshing(number, let trigger, let isSuperseded) = phase else {
            keepLate(result, of: number)
            return []
        }
        phase = .idle
        if isSuperseded { return beginRefreshIfIdle(at: now, isGood: isGood) }
        switch result {
        case .success(let new):
            credential = new
            version &+= 1
            return release(adaptations: { .apply($0, new) }, retries: { .retry($0) })
        // A credential that the origin has refused is not good, whatever its end.
        case .failure(let error): return fail(error, isGood: isGood && trigger == .adaptation)
        }
    }

    /// Somebody has set a credential, or taken it away (AI-13). Those that wait go by it.
    /// - Parameter requiresRefresh: Whether the new credential should be replaced before it is used.
    mutating func set(
        _ credential: OAuth2Credential?, at now: MonotonicTime, requiresRefresh: Bool
    ) -> [Action] {
        self.credential = credential
        version &+= 1
        if case .refreshing(let number, let trigger, _) = phase {
            phase = .refreshing(number: number, trigger, isSuperseded: true)
        } else {
            phase = .idle
        }
        let adapting = adaptations
        adaptations = []
        let retried = release(
            adaptations: { .refuse($0, .missingCredential) },
            retries: { credential == nil ? .giveUp($0, .missingCredential) : .retry($0) })
        return retried + adapting.flatMap { adapt($0, at: now, requiresRefresh: requiresRefresh) }
    }

    // MARK: Steps

    private mutating func beginRefreshIfIdle(at now: MonotonicTime, isGood: Bool) -> [Action] {
        guard case .idle = phase, let credential, let ticket = adaptations.first ?? retries.first else { return [] }
        guard window?.admit(at: now) ?? true else {
            return fail(.excessiveRefresh, isGood: isGood && retries.isEmpty)
        }
        last = (last.number &+ 1, version)
        phase = .refreshing(number: last.number, adaptations.isEmpty ? .retry : .adaptation, isSuperseded: false)
        return [.refresh(number: last.number, credential, for: ticket)]
    }

    /// There is no new credential. Requests that can do with the old one go with it: what is not needed fails none.
    private mutating func fail(_ error: SessionError, isGood: Bool) -> [Action] {
        if isGood, let credential {
            return release(adaptations: { .apply($0, credential) }, retries: { .giveUp($0, error) })
        }
        phase = .failed(error)
        return release(adaptations: { .refuse($0, error) }, retries: { .giveUp($0, error) })
    }

    /// A refresh that was given up may still bring a credential: then the old one is worth nothing any more, since its refresh token is used up.
    private mutating func keepLate(_ result: Result<OAuth2Credential, SessionError>, of number: Int) {
        guard case .success(let new) = result, last == (number, version) else { return }
        credential = new
        version &+= 1
        phase = .idle
    }

    /// In the order in which they came, adaptations first.
    private mutating func release(adaptations one: (Ticket) -> Action, retries other: (Ticket) -> Action) -> [Action] {
        let actions = adaptations.map(one) + retries.map(other)
        adaptations = []
        retries = []
        return actions
    }
}
