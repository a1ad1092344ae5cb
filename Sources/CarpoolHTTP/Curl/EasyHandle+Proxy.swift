internal import CCurl

/// The options of a proxy.
extension EasyHandle {
    /// Sets the proxy through which the connection is made.
    /// - Parameters:
    ///   - isTunnel: whether the proxy gets a CONNECT, and not the request.
    ///   - isAnswered: whether the request has an answer to the proxy's challenge: libcurl would send a second one.
    func setProxy(_ proxy: Proxy, isTunnel: Bool, isAnswered: Bool = false) {
        set(CURLOPT_PROXY, text: proxy.description)
        // Else a variable of the daemon's environment would decide.
        set(CURLOPT_NOPROXY, text: "")
        if proxy.tunnelsEverything { set(CURLOPT_HTTPPROXYTUNNEL, 1) }
        // Not GSSAPI, whose tickets belong to the daemon's user.
        set(CURLOPT_SOCKS5_AUTH, EasyHandle.basic)
        set(CURLOPT_PROXYAUTH, proxy.schemes.reduce(0) { $0 | $1.curlNumber })
        // A challenge to the request itself is answered with another request: libcurl would send a body twice.
        if !isAnswered, let credential = proxy.credential, isTunnel || proxy.schemes == [.basic] {
            set(CURLOPT_PROXYUSERNAME, text: EasyHandle.given(credential.user))
            set(CURLOPT_PROXYPASSWORD, text: EasyHandle.given(credential.password))
        }
        // Without a credential: libcurl would send it to the HTTP proxy, in place of that proxy's own.
        if let preproxy = proxy.preproxy { set(CURLOPT_PRE_PROXY, text: preproxy.description) }
    }

    /// Sets how the certificate of an HTTPS proxy is verified: by its host and by these authorities.
    /// - Parameter store: `nil` if they cannot be read.
    func setProxyTrust(store: TrustStore?, _ configuration: TransportConfiguration) {
        set(CURLOPT_PROXY_CAPATH, pointer: nil)
        set(CURLOPT_PROXY_CAINFO, pointer: nil)
        if store == nil { set(CURLOPT_PROXY_CAINFO, text: configuration.authoritiesPath) }
        set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // An origin of the same host and port would resume the proxy's session, without its own certificate.
        set(CURLOPT_SSL_SESSIONID_CACHE, 0)
    }

    private static let basic = CCurl_auth_basic

    /// A user or a password as libcurl takes it: 7.88.1 decodes percent signs.
    private static func given(_ text: String) -> String {
        guard CurlLibrary.profile == .http1, text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
    }
}

extension Proxy.Scheme {
    /// libcurl's number.
    var curlNumber: Int {
        switch self {
        case .basic: CCurl_auth_basic
        case .digest: CCurl_auth_digest
        }
    }
}
