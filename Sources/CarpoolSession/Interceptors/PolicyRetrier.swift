/// Retries as a policy says.
public final class PolicyRetrier: RequestInterceptor {
    /// Who decides.
    public let policy: RetryPolicy

    /// Makes a retrier.
    public init(_ policy: RetryPolicy) { self.policy = policy }

    /// It leaves every request as it is.
    public var adaptsAtOnce: Bool { true }

    /// Has the policy decide, at once.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        completion(policy.decide(FailedAttempt(of: request, dueTo: error)))
    }
}
