public import CarpoolHTTP

/// Sends an access token that the daemon obtains by itself, and that requests of all sessions of a user share.
public final class TokenInterceptor: RequestInterceptor {
    private let source: TokenSource
    private let tokens: SharedTokens

    /// Makes an interceptor.
    /// - Parameters:
    ///   - source: where the token is obtained.
    ///   - tokens: the tokens of the user.
    public init(_ source: TokenSource, in tokens: SharedTokens) {
        self.source = source
        self.tokens = tokens
    }

    /// Applies the token to the request, once there is a valid one.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        tokens.interceptor(for: source, of: request).adapt(urlRequest, for: request, completion: completion)
    }

    /// Retries a refused request once, with a new token.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        tokens.interceptor(for: source, of: request).retry(request, dueTo: error, completion: completion)
    }

    /// Whether the request was sent with a token for the first time.
    public func replacesCredential(of request: Request) -> Bool {
        tokens.interceptor(for: source, of: request).replacesCredential(of: request)
    }

    /// Always `true`: the token is the daemon's.
    public var hidesAuthorization: Bool { true }
}
