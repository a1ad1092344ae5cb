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

    /// What takes precedence over the settings of the session.
    public enum Precedence: Sendable {
        /// Everything.
        case all
        /// The exceptions alone: the proxies are those of the environment of the program that made the request.
        case exceptions
        /// Nothing: they are those of the environment too.
        case none
    }

    /// What of these settings of a request takes precedence over those of its session.
    public let precedence: Precedence

    /// Why the proxy of a scheme of URLs cannot be used. A program has variables of which no request needs all.
    public let refusals: [String: String]

    /// Makes settings from their parts.
    public init(
        http: Proxy?, https: Proxy?, exceptions: ProxyExceptions = ProxyExceptions(), precedence: Precedence = .all,
        refusals: [String: String] = [:]
    ) {
        self.refusals = refusals
        self.precedence = precedence
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// These settings of a session, where they are combined with those of a request.
    func combined(with own: ProxySettings) -> ProxySettings {
        guard own.precedence == .exceptions else { return self }
        return ProxySettings(http: http, https: https, exceptions: own.exceptions)
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
