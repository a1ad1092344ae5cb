public import CarpoolHTTP
internal import CarpoolSystem

/// Authenticates requests, and refreshes the credential when it has expired or is rejected (AI-01 to AI-14): once,
/// however many requests wait for it.
///
/// Each session has one, shared by all clients of the session.
public final class AuthenticationInterceptor: RequestInterceptor, CredentialHolder {
    private enum Answer {
        case adaptation(TransportRequest, (Result<TransportRequest, SessionError>) -> Void)
        case retry((RetryResult) -> Void)
    }

    private struct Waiter {
        let session: Session
        let answer: Answer
    }

    /// The most retries of a request that carries another credential than the current one: something behind this
    /// interceptor replaces the credential, and the request would be retried without end.
    static let maximumStaleRetries = 16

    private let authenticator: any Authenticator
    /// The scheduler; `nil` for that of each request's session.
    private let scheduler: (any Scheduler)?
    private let refreshTimeoutMilliseconds: Int
    /// The session that requests credentials; `nil` for that of a waiting request.
    private let session: Session?
    private var state: AuthenticationState
    private var waiters: [AuthenticationState.Ticket: Waiter] = [:]
    private var lastTicket = 0
    /// Called when a refresh has ended.
    var didEndRefresh: () -> Void = {}

    /// Makes an interceptor.
    /// - Parameters:
    ///   - authenticator: applies the credential to requests.
    ///   - credential: the first credential; without one every request fails until one is set, unless the authenticator
    ///     obtains one.
    ///   - window: limits the refreshes; `nil` for no limit.
    ///   - refreshTimeoutMilliseconds: the longest time for a refresh; then every request that waits for it fails.
    ///   - scheduler: runs the timers; `nil` for the session that a refresh is for.
    ///   - session: the session that requests credentials; `nil` for that of a waiting request.
    public init(
        authenticator: any Authenticator, credential: OAuth2Credential? = nil,
        window: RefreshWindow? = RefreshWindow(),
        refreshTimeoutMilliseconds: Int = 30_000, scheduler: (any Scheduler)? = nil, session: Session? = nil
    ) {
        self.authenticator = authenticator
        self.scheduler = scheduler
        self.refreshTimeoutMilliseconds = refreshTimeoutMilliseconds
        self.session = session
        state = AuthenticationState(
            credential: credential, window: window, obtains: authenticator.obtainsCredentials)
    }

    /// Whether the current credential may be sent although it should be refreshed.
    private var isUsable: Bool { credential.map { !authenticator.isExpired($0) } ?? false }

    /// Whether its credential has expired, and no request waits for another one.
    var isSpent: Bool { credential != nil && !isUsable && waiters.isEmpty }

    private var now: MonotonicTime { scheduler?.now ?? .read() }

    /// The interceptor itself.
    public var authentication: (any CredentialHolder)? { self }

    /// The current credential.
    public var credential: OAuth2Credential? { state.credential }

    /// Replaces or removes the credential (AI-13): all requests use the new one, waiting ones too, and the result of a
    /// refresh in progress is dropped.
    public func setCredential(_ credential: OAuth2Credential?) {
        let requiresRefresh = credential.map(authenticator.requiresRefresh) ?? false
        perform(state.set(credential, at: now, requiresRefresh: requiresRefresh))
    }

    /// Applies the credential to the request, once there is a valid one.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        let ticket = admit(request, .adaptation(urlRequest, completion))
        adapt(ticket)
    }

    private func adapt(_ ticket: AuthenticationState.Ticket) {
        let requiresRefresh = credential.map(authenticator.requiresRefresh) ?? false
        perform(state.adapt(ticket, at: now, requiresRefresh: requiresRefresh, isUsable: isUsable))
    }

    /// Retries a rejected request with a new credential (AI-07 to AI-09).
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        guard let urlRequest = request.urlRequest, let response = request.response,
            authenticator.didRequest(urlRequest, with: response, failDueToAuthenticationError: error),
            request.wasAuthorizedToTheEnd, mayReplaceCredential(of: request)
        else { return completion(.doNotRetry) }
        let wasSentWithCurrent = credential.map { authenticator.isRequest(urlRequest, authenticatedWith: $0) } ?? true
        guard wasSentWithCurrent || request.retryCount < AuthenticationInterceptor.maximumStaleRetries else {
            return completion(.doNotRetry)
        }
        let ticket = admit(request, .retry(completion))
        perform(state.retry(ticket, at: now, wasSentWithCurrent: wasSentWithCurrent))
    }

    /// Whether a refused request may be sent with another credential: once if the interceptor obtains credentials. Then
    /// the response of an origin that refuses the new one too is the result.
    private func mayReplaceCredential(of request: Request) -> Bool {
        !authenticator.obtainsCredentials || request.machine.hops.refreshes == 0 && request.canSendBodyAgain
    }

    /// Whether the request carried a credential that the interceptor has obtained, for the first time. The caller did
    /// not choose it, so the caller need not validate that it is accepted.
    public func replacesCredential(of request: Request) -> Bool {
        authenticator.obtainsCredentials && request.wasAuthorizedToTheEnd && mayReplaceCredential(of: request)
    }

    private func admit(_ request: Request, _ answer: Answer) -> AuthenticationState.Ticket {
        lastTicket += 1
        waiters[lastTicket] = Waiter(session: request.session, answer: answer)
        return lastTicket
    }

    // MARK: Actions

    /// Performs actions. A completion may call back into the interceptor: the state is already updated before the first
    /// action.
    private func perform(_ actions: [AuthenticationState.Action]) {
        guard let scheduler = scheduler ?? waiters.first?.value.session.scheduler else {
            for action in actions { perform(action) }
            return
        }
        let version = state.version
        scheduler.forEach(of: actions) { [self] action in
            // Many actions are performed over several turns of the loop, in which another credential may be set.
            guard case .apply(let ticket, _) = action, state.version != version else { return perform(action) }
            adapt(ticket)
        }
    }

    private func perform(_ action: AuthenticationState.Action) {
        switch action {
        case .apply(let ticket, let credential): apply(credential, ticket)
        case .failAdaptation(let ticket, let error): answer(ticket, .failure(error))
        case .retry(let ticket): answer(ticket, .retryWithNewCredential)
        case .failRetry(let ticket, let error): answer(ticket, .doNotRetryWithError(error))
        case .refresh(let number, let credential, let ticket): refresh(number, credential, for: ticket)
        }
    }

    private func apply(_ credential: OAuth2Credential, _ ticket: AuthenticationState.Ticket) {
        guard case .adaptation(var urlRequest, let completion) = waiters.removeValue(forKey: ticket)?.answer else {
            return
        }
        do throws(SessionError) {
            try authenticator.apply(credential, to: &urlRequest)
        } catch {
            return completion(.failure(error))
        }
        completion(.success(urlRequest))
    }

    private func answer(_ ticket: AuthenticationState.Ticket, _ result: Result<TransportRequest, SessionError>) {
        guard case .adaptation(_, let completion) = waiters.removeValue(forKey: ticket)?.answer else { return }
        completion(result)
    }

    private func answer(_ ticket: AuthenticationState.Ticket, _ result: RetryResult) {
        guard case .retry(let completion) = waiters.removeValue(forKey: ticket)?.answer else { return }
        completion(result)
    }

    // MARK: Refreshing

    private func refresh(_ number: Int, _ credential: OAuth2Credential?, for ticket: AuthenticationState.Ticket) {
        guard let session = session ?? waiters[ticket]?.session else { return }
        let milliseconds = refreshTimeoutMilliseconds
        // The interceptor stays as long as requests wait for it, also if nothing else holds it any more.
        let timer = Timer { [self] in end(number, .failure(.refreshTimedOut(milliseconds: milliseconds))) }
        let scheduler = scheduler ?? session.scheduler
        scheduler.arm(timer, afterMilliseconds: milliseconds)
        var isAnswered = false
        let completion = { [self] (result: Result<OAuth2Credential, SessionError>) in
            guard !isAnswered else { return }
            isAnswered = true
            scheduler.cancel(timer)
            end(number, result)
        }
        guard let credential else { return authenticator.obtain(for: session, completion: completion) }
        authenticator.refresh(credential, for: session, completion: completion)
    }

    private func end(_ number: Int, _ result: Result<OAuth2Credential, SessionError>) {
        perform(state.refreshEnded(number, result, at: now, isUsable: isUsable))
        didEndRefresh()
    }
}
