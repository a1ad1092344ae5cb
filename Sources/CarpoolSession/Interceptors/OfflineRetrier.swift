internal import CarpoolHTTP
internal import CarpoolSystem

/// Sends requests again that have failed because the network was not there, when it is back (RT-12).
///
/// A failure that says so is retried as soon as there is a way to the host again, at once if there is one, whatever the method: nothing was
/// sent. A request that was lost under way is retried once, if sending it twice does no more than sending it once and the network was seen to
/// go while it was under way. Each request waits its own time.
public final class OfflineRetrier: RequestInterceptor {
    /// The numbers of the URL errors that mean that nothing was sent.
    public let codes: Set<Int>
    /// How long a request waits, in milliseconds.
    public let waitMilliseconds: Int
    /// The methods that may be sent twice.
    public let methods: Set<String>
    /// `nil` for those of each request's session.
    private let connectivity: (any Connectivity)?
    private let scheduler: (any Scheduler)?

    /// What may be the end of a request under way whose network goes: timed out, connection lost, and offline.
    private static let lostCodes: Set<Int> = [-1_001, -1_005, -1_009]
    /// Requests that were lost together do not come back together: up to so many milliseconds are left to chance.
    private static let jitterMilliseconds = 100

    /// Makes a retrier.
    /// - Parameters:
    ///   - connectivity: Knows when there is a way again; `nil` for what the request's session knows. In a session that knows nothing of the network, a
    ///     request is sent again once, when its time to wait is over.
    ///   - scheduler: Keeps the time; `nil` for the request's session.
    ///   - waitMilliseconds: How long a request waits.
    ///   - codes: The numbers of the URL errors that mean that nothing was sent.
    ///   - methods: The methods that may be sent twice.
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

    /// Answers when there is a way, or when the time is over.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        guard let code = error.urlErrorCode ?? error.underlying?.urlErrorCode,
            let host = request.attempts.last?.hops.last?.url.origin.host
        else { return completion(.doNotRetry) }
        guard let connectivity = connectivity ?? request.session.connectivity else {
            return completion(codes.contains(code) ? retryOnce(request) : .doNotRetry)
        }
        let history = request.networkHistory
        let path = connectivity.path(to: host, isFresh: true)
        if codes.contains(code) {
            guard path.isUsable else {
                return wait(for: host, connectivity, request) { completion($0 ? .retry : .doNotRetry) }
            }
            // The kernel has refused it a second time, and nothing has changed.
            guard history.changesAtRetry != connectivity.changes else { return completion(.doNotRetry) }
            history.changesAtRetry = connectivity.changes
            return completion(.retry)
        }
        guard OfflineRetrier.lostCodes.contains(code), !history.hasRetriedLoss, mayBeSentTwice(request),
            connectivity.losses != request.lossesAtStart
        else { return completion(.doNotRetry) }
        history.hasRetriedLoss = true
        let again = RetryResult.retryWithDelay(milliseconds: Int.random(in: 0...OfflineRetrier.jitterMilliseconds))
        guard !path.isUsable else { return completion(again) }
        wait(for: host, connectivity, request) { completion($0 ? again : .doNotRetry) }
    }

    /// Without knowledge of the network only time can help.
    private func retryOnce(_ request: Request) -> RetryResult {
        guard !request.networkHistory.hasRetriedLoss else { return .doNotRetry }
        request.networkHistory.hasRetriedLoss = true
        return .retryWithDelay(milliseconds: waitMilliseconds)
    }

    private func mayBeSentTwice(_ request: Request) -> Bool {
        guard let sent = request.urlRequest else { return false }
        return methods.contains(sent.method.rawValue) || sent.fields.contains { $0.hasName("idempotency-key") }
    }

    /// Calls the body once: with whether there is a way, or not at all if the request ends meanwhile.
    private func wait(
        for host: String, _ connectivity: any Connectivity, _ request: Request, _ body: @escaping (Bool) -> Void
    ) {
        var end: (Bool) -> Void = { _ in }
        let wait = PathWait(for: host, connectivity) { end(true) }
        let timer = Timer { end(false) }
        let scheduler = scheduler ?? request.session.scheduler
        let token = request.whenFinished { _ in
            wait.end()
            scheduler.cancel(timer)
        }
        end = { isBack in
            wait.end()
            scheduler.cancel(timer)
            request.forget(completion: token)
            body(isBack)
        }
        scheduler.arm(timer, afterMilliseconds: waitMilliseconds)
    }
}
