public import CarpoolHTTP

/// Which proxy requests use, by the scheme and the host of their URLs.
///
/// An immutable object, because every copy of a request's options has a reference to it.
public final class ProxySettings: Sendable {
    /// The proxy of `http` URLs; `nil` for none.
    public let http: Proxy?
    /// The proxy of `https` URLs; `nil` for none.
    public let https: Proxy?
    /// The hosts that are reached without a proxy.
    public let exceptions: ProxyExceptions

    /// Whether they are the defaults of the program that made the request, so that a session's own take precedence.
    public let isFromEnvironment: Bool

    /// Why the proxy of a scheme of URLs cannot be used. A program has variables of which no request needs all.
    public let refusals: [String: String]

    /// Makes settings from their parts.
    public init(
        http: Proxy?, https: Proxy?, exceptions: ProxyExceptions = ProxyExceptions(), isFromEnvironment: Bool = false,
        refusals: [String: String] = [:]
    ) {
        self.refusals = refusals
        self.isFromEnvironment = isFromEnvironment
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// The proxy for an origin; `nil` for none.
    public func proxy(for origin: Origin) -> Proxy? {
        let proxy = origin.scheme == "https" ? https : http
        return proxy.flatMap { exceptions.contains(origin) ? nil : $0 }
    }

    /// Why the proxy for an origin cannot be used; `nil` if it can, or there is none.
    func refusal(for origin: Origin) -> TransportError? {
        guard let reason = refusals[origin.scheme], !exceptions.contains(origin) else { return nil }
        return TransportError(
            .proxyNotFound, "the proxy of \(origin.scheme) URLs in the environment cannot be used: \(reason)")
    }

    /// Whether an entry of the exceptions is the reason why an origin has no proxy.
    public func exempts(_ origin: Origin) -> Bool {
        (origin.scheme == "https" ? https : http) != nil && exceptions.contains(origin)
    }
}
