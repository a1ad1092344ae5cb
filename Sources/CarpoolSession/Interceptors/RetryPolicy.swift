/// When a failed request is retried, and after which delay (RT-01 to RT-10): a value that decides; ``PolicyRetrier``
/// asks it.
public struct RetryPolicy: Equatable, Sendable {
    /// The most retries of a request (RT-01).
    public var limit = 2
    /// The factor of the delay from retry to retry (RT-02); at least 2.
    public let base: Int
    /// The delay before the first retry, in milliseconds (RT-03).
    public var scaleMilliseconds = 500
    /// The methods that may be sent twice (RT-05).
    public var methods: Set<String> = RetryPolicy.idempotentMethods
    /// The statuses that are retried (RT-06).
    public var statuses: Set<Int> = RetryPolicy.transientStatuses
    /// The URL error codes that are retried (RT-07).
    public var codes: Set<Int> = RetryPolicy.transientCodes
    /// Whether the delay is at least that of the response's `Retry-After` (RFC 9110, section 10.2.3).
    public var respectsRetryAfter = false
    /// The random fraction of the back-off, from 0 to 1, so that clients that failed together do not retry together:
    /// the delay is jittered from `delay * (1 - jitter)` to `delay`.
    public var jitter = 0.0
    /// The longest delay in milliseconds, which also limits `Retry-After`; `nil` for 30 days.
    public var maximumDelayMilliseconds: Int?
    /// The longest delay of the back-off in milliseconds, which does not limit `Retry-After`; `nil` for none.
    public var maximumBackOffMilliseconds: Int?
    /// The latest begin of a retry after the start of the request, in milliseconds; `nil` for none.
    public var maximumElapsedMilliseconds: Int?
    /// Whether every failure and every status of 400 or more is retried.
    public var retriesAllFailures = false
    /// Whether a response with one of the ``statuses`` is a failure although no validator checks it.
    public var retriesWithoutValidation = false

    /// The standard policy.
    public init() { base = 2 }

    /// The standard policy with another base; `nil` if that is less than 2.
    public init?(base: Int) {
        guard base >= 2 else { return nil }
        self.base = base
    }

    /// The policy that retries lost connections only (RT-11).
    public static func connectionLost(base: Int = 2) -> RetryPolicy? {
        var policy = RetryPolicy(base: base)
        policy?.statuses = []
        policy?.codes = [-1_005]
        return policy
    }

    /// The idempotent methods (RFC 9110, section 9.2.2).
    public static let idempotentMethods: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"]
    /// The statuses of transient failures.
    public static let transientStatuses: Set<Int> = [408, 500, 502, 503, 504]
    /// The URL error codes of transient failures.
    public static let transientCodes: Set<Int> = [
        -996, -997, -1_001, -1_003, -1_004, -1_005, -1_006, -1_009, -1_011, -1_018, -1_019, -1_020, -1_200, -1_201,
        -1_204, -2_000, -3_006, -3_007,
    ]
    /// The longest delay, in milliseconds: 30 days, the longest duration that the daemon accepts.
    public static let longestDelayMilliseconds = 2_592_000_000

    /// The statuses that are failures even without a validator.
    public var statusesWithoutValidation: Set<Int> { retriesWithoutValidation ? retriedStatuses : [] }
    /// The statuses that are retried.
    public var retriedStatuses: Set<Int> { retriesAllFailures ? statuses.union(400...599) : statuses }

    /// Decides: checks the limit first, then the method, then the status or else the error (RT-08).
    public func decide(_ attempt: FailedAttempt) -> RetryResult {
        guard attempt.retryCount < limit, methods.contains(attempt.method) else { return .doNotRetry }
        let isRetried = attempt.status.map(retriedStatuses.contains) == true || retries(attempt.errorCode)
        guard isRetried else { return .doNotRetry }
        let delay = delay(attempt)
        if let maximumElapsedMilliseconds, attempt.elapsedMilliseconds + delay > maximumElapsedMilliseconds {
            return .doNotRetry
        }
        return .retryWithDelay(milliseconds: delay)
    }

    private func retries(_ code: Int?) -> Bool { code.map { retriesAllFailures || codes.contains($0) } ?? false }

    /// The delay, in milliseconds. The jitter applies to the back-off alone: a retry is never earlier than
    /// `Retry-After`.
    func delay(_ attempt: FailedAttempt) -> Int {
        let longest = min(maximumDelayMilliseconds ?? .max, RetryPolicy.longestDelayMilliseconds)
        let backOff = min(backOff(attempt.retryCount), maximumBackOffMilliseconds ?? .max, longest)
        let part = jitter * attempt.chance
        let jittered = part > 0 ? Int(Double(backOff) * (1 - min(part, 1))) : backOff
        guard respectsRetryAfter, let text = attempt.retryAfter,
            let requested = RetryAfter.milliseconds(text, now: attempt.now)
        else { return jittered }
        return min(max(jittered, requested), longest)
    }

    /// `base ^ retryCount * scale` (RT-04); saturates.
    private func backOff(_ retryCount: Int) -> Int {
        var delay = max(0, scaleMilliseconds)
        for _ in 0..<max(0, retryCount) {
            guard delay > 0, delay < RetryPolicy.longestDelayMilliseconds else { break }
            let (product, overflow) = delay.multipliedReportingOverflow(by: base)
            delay = overflow ? .max : product
        }
        return min(delay, RetryPolicy.longestDelayMilliseconds)
    }
}
