public import CarpoolHTTP

/// The settings of the connection that a request would use, and where each of them comes from. Nothing is sent to make
/// one.
public struct ConnectionPlan {
    /// The place where a setting was set.
    public enum Source: String, Sendable {
        /// The request's own parameters.
        case request
        /// The configuration of the session.
        case session
        /// The environment of the program that makes the request.
        case environment
        /// Neither: the default.
        case standard = "default"
    }

    /// The request as the transport would get it, without the changes of adapters.
    public let request: TransportRequest
    /// The source of the trust, and of the evaluators.
    public let trust: Source
    /// The pattern of the evaluator in force; `nil` if there is none for the host, or there are no evaluators.
    public let pattern: HostPattern?
    /// The source of the versions and ciphers of TLS.
    public let tls: Source
    /// The source of the client certificate, or of its absence.
    public let certificate: Source
    /// The source of the addresses.
    public let addresses: Source
    /// The source of the proxy, or of its absence.
    public let proxy: Source
    /// Whether the host is one of those that are reached without the proxy.
    public let isProxyException: Bool
    /// The request's own user and password for the origin; `nil` for none.
    public let credential: PasswordCredential?
    /// The credentials of the session for the origin, the most specific first, if the request has none of its own.
    public let sessionCredentials: [SessionCredentials.Entry]
    /// The source of the cookies: of the request's own jar or of the session's, or that there is no jar.
    public let cookieSource: Source
    /// The cookies that it would be sent with, in order.
    public let cookies: [Cookie]
    /// The source of the `Host` field.
    public let host: Source
}

extension Session {
    /// Finds the settings of the connection that a request with these parameters would use first; redirects and
    /// adapters may lead to others. Throws ``SessionError`` if its URL is not one.
    public func connectionPlan(for parameters: RequestParameters) throws(SessionError) -> ConnectionPlan {
        var options = parameters.options
        options.merge(over: configuration.options)
        let url: HTTPURL
        do throws(TransportError) { url = try HTTPURL(parameters.url, encoding: options.urlEncoding.value) } catch {
            throw .invalidURL(parameters.url, error)
        }
        var request = TransportRequest(method: parameters.method, url: url, fields: fields(of: parameters))
        request.body = parameters.body
        request.httpVersion = options.httpVersion.value
        request.isLong = parameters.kind.isLong || parameters.body.isFed
        if parameters.output?.mayWait == true, request.mayMultiplex { request.isLong = true }
        try setPartition(of: &request, options)
        let common = configuration.options
        func source<Value>(_ setting: KeyPath<TransferOptions, Setting<Value>>) -> ConnectionPlan.Source {
            if options[keyPath: setting].isGiven { return .request }
            return common[keyPath: setting].isGiven ? .session : .standard
        }
        var proxySource = source(\.proxy)
        let isException = options.proxy.value?.exempts(url.origin) ?? false
        if let own = parameters.options.proxy.value, own.precedence != .all {
            proxySource = common.proxy.isGiven ? .session : .environment
            if own.precedence == .exceptions, isException { proxySource = .request }
        }
        var trustSource = source(\.trust)
        if parameters.options.isTrustOfEnvironment { trustSource = common.trust.isGiven ? .session : .environment }
        let own = parameters.credential(for: url.origin)
        return ConnectionPlan(
            request: request, trust: trustSource,
            pattern: options.serverTrustManager.value?.pattern(for: url.origin), tls: source(\.tls),
            certificate: source(\.certificate), addresses: source(\.addresses),
            proxy: proxySource, isProxyException: isException,
            credential: own, sessionCredentials: own == nil ? credentials.all(for: url.origin) : [],
            cookieSource: parameters.cookies != nil ? .request : cookieJar == nil ? .standard : .session,
            cookies: cookies(for: request, parameters), host: hostSource(parameters.fields))
    }

    private func hostSource(_ own: [HTTPField]) -> ConnectionPlan.Source {
        if own.contains(where: { $0.hasName("host") }) { return .request }
        return defaultFields.contains { $0.hasName("host") } ? .session : .standard
    }
}
