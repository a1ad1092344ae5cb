internal import CarpoolHTTP
internal import CarpoolSystem

/// Retries requests that failed because the network was unavailable, when it is available again (RT-12).
///
/// A failure to connect is retried as soon as there is a path to the host again, at once if there is one, whatever the
/// method: nothing was sent. If a redirect led to the host, the request was sent to the server before: it is retried
/// only if its method is idempotent. A request that lost its connection while active is retried once, if its method is
/// idempotent and the network was seen to fail in that time. Each request has its own waiting time.
public final class OfflineRetrier: RequestInterceptor {
    /// The URL error codes which mean that nothing was sent.
    public let codes: Set<Int>
    /// The longest time that a request waits, in milliseconds.
    public let waitMilliseconds: Int
    /// The methods that may be sent twice.
    public let methods: Set<String>
    /// The state of the network; `nil` for that of each request's session.
    private let connectivity: (any Connectivity)?
    private let scheduler: (any Scheduler)?

    /// The codes of a request that the loss of the network may have ended: timed out, connection lost, and offline.
    private static let lostCodes: Set<Int> = [-1_001, -1_005, -1_009]
    /// The random part of the delay, in milliseconds, so that requests that failed together are not retried together.
    private static let jitterMilliseconds = 100

    /// Makes a retrier.
    /// - Parameters:
    ///   - connectivity: reports when there is a path again; `nil` for that of the request's session. In a session
    ///     without one, a
    ///     request is retried once, after the waiting time.
    ///   - scheduler: runs the timers; `nil` for that of the request's session.
    ///   - waitMilliseconds: the longest time that a request waits.
    ///   - codes: the URL error codes which mean that nothing was sent.
    ///   - methods: the methods that may be sent twice.
    public init(
        connectivity: (any Connectivity)? = nil, scheduler: (any Scheduler)? = nil, waitMilliseconds: Int = 5_000,
        codes: Set<Int> = [-1_009], methods: Set<String> = RetryPolicy.idempotentMethods
    ) {
        self.connectivity = connectivity
        self.scheduler = scheduler
        self.waitMilliseconds = waitMilliseconds
        self.codes = codes
        self.methods = methods
    }

    /// Answers when there is a path, or when the waiting time is over.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        guard let code = error.urlErrorCode ?? error.underlying?.urlErrorCode,
            let host = request.attempts.last?.hops.last?.url.origin.host
        else { return completion(.doNotRetry) }
        let isUnsent = codes.contains(code)
        guard !isUnsent || !request.mayBeCarriedOut || isRepeatable(request) else { return completion(.doNotRetry) }
        guard let connectivity = connectivity ?? request.session.connectivity else {
            return completion(isUnsent ? retryOnce(request) : .doNotRetry)
        }
        let history = request.networkHistory
        let path = connectivity.path(to: host, isFresh: true)
        if isUnsent {
            guard path.isUsable else {
                return wait(for: host, connectivity, request) { completion($0 ? .retry : .doNotRetry) }
            }
            // The kernel has refused the request a second time, and the network has not changed.
            guard history.changesAtRetry != connectivity.changes else { return completion(.doNotRetry) }
            history.changesAtRetry = connectivity.changes
            return completion(.retry)
        }
        guard OfflineRetrier.lostCodes.contains(code), !history.hasRetriedLoss, isRepeatable(request),
            connectivity.losses != request.lossesAtStart
        else { return completion(.doNotRetry) }
        history.hasRetriedLoss = true
        let again = RetryResult.retryWithDelay(milliseconds: Int.random(in: 0...OfflineRetrier.jitterMilliseconds))
        guard !path.isUsable else { return completion(again) }
        wait(for: host, connectivity, request) { completion($0 ? again : .doNotRetry) }
    }

    /// Retries once after the waiting time, for lack of knowledge of the network.
    private func retryOnce(_ request: Request) -> RetryResult {
        guard !request.networkHistory.hasRetriedLoss else { return .doNotRetry }
        request.networkHistory.hasRetriedLoss = true
        return .retryWithDelay(milliseconds: waitMilliseconds)
    }

    private func isRepeatable(_ request: Request) -> Bool {
        guard let sent = request.urlRequest else { return false }
        return methods.contains(sent.method.rawValue) || sent.fields.contains { $0.hasName("idempotency-key") }
    }

    /// Calls the body once, with whether there is a path, or not at all if the request ends meanwhile.
    private func wait(
        for host: String, _ connectivity: any Connectivity, _ request: Request, _ body: @escaping (Bool) -> Void
    ) {
        var end: (Bool) -> Void = { _ in }
        let wait = PathWait(for: host, connectivity) { end(true) }
        let timer = Timer { end(false) }
        let scheduler = scheduler ?? request.session.scheduler
        // What calls it is held by it, so it is dropped at the end.
        let token = request.whenFinished { _ in
            end = { _ in }
            wait.end()
            scheduler.cancel(timer)
        }
        end = { isBack in
            end = { _ in }
            wait.end()
            scheduler.cancel(timer)
            request.remove(completion: token)
            body(isBack)
        }
        scheduler.arm(timer, afterMilliseconds: waitMilliseconds)
    }
}

extension Request {
    /// Whether a server may have carried out the current attempt: one has answered it, and not refused it for want of
    /// credentials or of the expectation.
    fileprivate var mayBeCarriedOut: Bool {
        attempts.last?.hops.contains { hop in
            hop.response.map { ![401, 407, 417].contains($0.status) } ?? false
        } ?? false
    }
}
