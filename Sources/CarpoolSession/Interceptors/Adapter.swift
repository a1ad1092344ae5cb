public import CarpoolHTTP

/// An adapter made of a closure (RI-09); it retries nothing.
public final class Adapter: RequestInterceptor {
    /// Gets the request to change, whose it is, and whom to answer, once.
    public typealias Body = (TransportRequest, Request, @escaping (Result<TransportRequest, SessionError>) -> Void) ->
        Void

    private let body: Body

    /// Makes an adapter.
    public init(_ body: @escaping Body) { self.body = body }

    /// Calls the closure.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        body(urlRequest, request, completion)
    }
}
