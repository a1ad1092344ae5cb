public import CarpoolHTTP

/// An adapter made of a closure (RI-09); it retries nothing.
public final class Adapter: RequestInterceptor {
    /// Receives the request to change, the request it belongs to, and the completion, to be called once.
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
