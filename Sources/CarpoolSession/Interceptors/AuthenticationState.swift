internal import CarpoolSystem

/// Decides which requests proceed or wait, and when a credential is refreshed (AI-02 to AI-13);
/// ``AuthenticationInterceptor`` acts.
///
/// At most one refresh is in progress, and every ticket that is handed in is returned in exactly one action.
struct AuthenticationState {
    /// One adaptation or retry that waits for an answer.
    typealias Ticket = Int

    enum Action {
        /// The adaptation proceeds with this credential.
        case apply(Ticket, OAuth2Credential)
        /// The adaptation fails.
        case failAdaptation(Ticket, SessionError)
        /// The request is retried.
        case retry(Ticket)
        /// The request fails with this error and its own.
        case failRetry(Ticket, SessionError)
        /// This credential is to be refreshed, or the first one obtained; the ticket is one of those that wait for it.
        case refresh(number: Int, OAuth2Credential?, for: Ticket)
    }

    private enum Cause {
        case adaptation
        case retry
    }

    private enum Phase {
        case idle
        /// A refresh is in progress. If it is superseded, a new credential was set meanwhile: its result is ignored,
        /// but no other refresh begins before it arrives.
        case refreshing(number: Int, Cause, isSuperseded: Bool)
        /// The refresh failed. Since then neither has the credential changed nor has a request been adapted.
        case failed(SessionError)
    }

    /// The most adaptations and retries that wait for one refresh: as many as one client may have active. Each costs
    /// some hundred bytes.
    static let maximumWaiting = 10_000

    private(set) var credential: OAuth2Credential?
    private var window: RefreshWindow?
    /// Whether credentials are obtained without an earlier one. Then only those that replace a refused one count in the
    /// window: to obtain one that has expired is no loop.
    private let obtains: Bool
    private var phase = Phase.idle
    private var adaptations: [Ticket] = []
    private var retries: [Ticket] = []
    /// The version of the credential, which grows with every new one.
    private(set) var version = 0
    /// The last refresh, and the credential version that it was started for.
    private var last = (number: 0, version: 0)

    init(credential: OAuth2Credential?, window: RefreshWindow?, obtains: Bool = false) {
        self.credential = credential
        self.window = window
        self.obtains = obtains
    }

    /// The number of adaptations and retries that wait.
    var waiting: Int { adaptations.count + retries.count }

    // MARK: Events

    /// A request is adapted (AI-02 to AI-06).
    /// - Parameters:
    ///   - requiresRefresh: whether the current credential should be refreshed before it is used.
    ///   - isUsable: whether it can still be used if the refresh fails.
    mutating func adapt(
        _ ticket: Ticket, at now: MonotonicTime, requiresRefresh: Bool, isUsable: Bool = false
    ) -> [Action] {
        guard credential != nil || obtains else { return [.failAdaptation(ticket, .missingCredential)] }
        switch (phase, credential) {
        case (.refreshing(_, .adaptation, isSuperseded: false), _): break
        case (.refreshing(_, .retry, isSuperseded: false), let credential?): return [.apply(ticket, credential)]
        default:
            if case .failed = phase { phase = .idle }
            if let credential, !requiresRefresh { return [.apply(ticket, credential)] }
        }
        guard waiting < AuthenticationState.maximumWaiting else { return [.failAdaptation(ticket, .tooManyWaiting)] }
        adaptations.append(ticket)
        return beginRefreshIfIdle(at: now, isUsable: isUsable)
    }

    /// A request was rejected because of its credential (AI-07 to AI-09).
    /// - Parameter wasSentWithCurrent: whether it was sent with the current credential.
    mutating func retry(_ ticket: Ticket, at now: MonotonicTime, wasSentWithCurrent: Bool) -> [Action] {
        guard credential != nil else { return [.failRetry(ticket, .missingCredential)] }
        guard wasSentWithCurrent else { return [.retry(ticket)] }
        if case .failed(let error) = phase { return [.failRetry(ticket, error)] }
        guard waiting < AuthenticationState.maximumWaiting else { return [.failRetry(ticket, .tooManyWaiting)] }
        retries.append(ticket)
        return beginRefreshIfIdle(at: now, isUsable: false)
    }

    /// A refresh has ended, with an answer or by its timeout (AI-10, AI-11).
    /// - Parameter isUsable: whether the old credential can still be used.
    mutating func refreshEnded(
        _ number: Int, _ result: Result<OAuth2Credential, SessionError>, at now: MonotonicTime, isUsable: Bool = false
    ) -> [Action] {
        guard case .refreshing(number, let cause, let isSuperseded) = phase else {
            adoptLate(result, of: number)
            return []
        }
        phase = .idle
        if isSuperseded { return beginRefreshIfIdle(at: now, isUsable: isUsable) }
        switch result {
        case .success(let new):
            credential = new
            version += 1
            return release(adaptations: { .apply($0, new) }, retries: { .retry($0) })
        // A credential that the origin has rejected is not good, whatever its expiry.
        case .failure(let error): return fail(error, isUsable: isUsable && cause == .adaptation)
        }
    }

    /// A credential was set or removed (AI-13). The waiting requests use it.
    /// - Parameter requiresRefresh: whether the new credential should be refreshed before it is used.
    mutating func set(
        _ credential: OAuth2Credential?, at now: MonotonicTime, requiresRefresh: Bool
    ) -> [Action] {
        self.credential = credential
        version += 1
        if case .refreshing(let number, let cause, _) = phase {
            phase = .refreshing(number: number, cause, isSuperseded: true)
        } else {
            phase = .idle
        }
        let adapting = adaptations
        adaptations = []
        let retried = release(
            adaptations: { .failAdaptation($0, .missingCredential) },
            retries: { credential == nil ? .failRetry($0, .missingCredential) : .retry($0) })
        return retried + adapting.flatMap { adapt($0, at: now, requiresRefresh: requiresRefresh) }
    }

    // MARK: Steps

    private mutating func beginRefreshIfIdle(at now: MonotonicTime, isUsable: Bool) -> [Action] {
        guard case .idle = phase, credential != nil || obtains, let ticket = adaptations.first ?? retries.first else {
            return []
        }
        guard obtains && retries.isEmpty || window?.admit(at: now) ?? true else {
            return fail(.excessiveRefresh, isUsable: isUsable && retries.isEmpty)
        }
        last = (last.number &+ 1, version)
        phase = .refreshing(number: last.number, adaptations.isEmpty ? .retry : .adaptation, isSuperseded: false)
        return [.refresh(number: last.number, credential, for: ticket)]
    }

    /// Handles a failed refresh. Requests that can use the old credential proceed with it: a refresh that is not needed
    /// fails no request.
    private mutating func fail(_ error: SessionError, isUsable: Bool) -> [Action] {
        if isUsable, let credential {
            return release(adaptations: { .apply($0, credential) }, retries: { .failRetry($0, error) })
        }
        phase = .failed(error)
        return release(adaptations: { .failAdaptation($0, error) }, retries: { .failRetry($0, error) })
    }

    /// Handles the late result of an abandoned refresh: its credential replaces the old one, whose refresh token is
    /// used up.
    private mutating func adoptLate(_ result: Result<OAuth2Credential, SessionError>, of number: Int) {
        guard case .success(let new) = result, last == (number, version) else { return }
        credential = new
        version += 1
        phase = .idle
    }

    /// Releases all that wait in the order of their arrival, adaptations first.
    private mutating func release(adaptations one: (Ticket) -> Action, retries other: (Ticket) -> Action) -> [Action] {
        let actions = adaptations.map(one) + retries.map(other)
        adaptations = []
        retries = []
        return actions
    }
}
