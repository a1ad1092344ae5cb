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
    private let connectivity: any Connectivity
    private let scheduler: any Scheduler

    /// What may be the end of a request under way whose network goes: timed out, connection lost, and offline.
    private static let lostCodes: Set<Int> = [-1_001, -1_005, -1_009]
    /// Requests that were lost together do not come back together: up to so many milliseconds are left to chance.
    private static let jitterMilliseconds = 100

    /// Makes a retrier.
    public init(
        connectivity: any Connectivity, scheduler: any Scheduler, waitMilliseconds: Int = 5_000,
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
        let history = request.networkHistory
        let path = connectivity.path(to: host, isFresh: true)
        if codes.contains(code) {
            guard path.isUsable else {
                return wait(for: host, request) { completion($0 ? .retry : .doNotRetry) }
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
        wait(for: host, request) { completion($0 ? again : .doNotRetry) }
    }

    private func mayBeSentTwice(_ request: Request) -> Bool {
        guard let sent = request.urlRequest else { return false }
        return methods.contains(sent.method.rawValue) || sent.fields.contains { $0.hasName("idempotency-key") }
    }

    /// Calls the body once: with whether there is a way, or not at all if the request ends meanwhile.
    private func wait(for host: String, _ request: Request, _ body: @escaping (Bool) -> Void) {
        var end: (Bool) -> Void = { _ in }
        let wait = PathWait(for: host, connectivity) { end(true) }
        let timer = Timer { end(false) }
        let scheduler = scheduler
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
