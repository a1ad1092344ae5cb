/// A retrier made of a closure (RI-09); it adapts nothing.
public final class Retrier: RequestInterceptor {
    /// Receives the failed request, its error, and the completion, to be called once.
    public typealias Body = (Request, SessionError, @escaping (RetryResult) -> Void) -> Void

    private let body: Body

    /// Makes a retrier.
    public init(_ body: @escaping Body) { self.body = body }

    /// Calls the closure.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        body(request, error, completion)
    }
}
