internal import CCurl

/// What is known of a failed transfer's proxy.
struct ProxyOutcome {
    let proxy: Proxy
    /// The origin that the proxy had to connect to.
    let origin: Origin
    /// The status of the proxy's answer to CONNECT; 0 if there was none.
    let connectStatus: Int
    /// libcurl's code for a SOCKS proxy (`CURLPX_...`).
    let socksCode: CURLproxycode
    /// Whether TLS with the proxy itself had begun and nothing after it.
    let isSecuringProxy: Bool
    /// Whether the proxy has answered a CONNECT that had the credential.
    let hasSeenCredential: Bool

    /// Whether libcurl may answer the last status with another CONNECT, so that it says nothing yet.
    var isAnswered: Bool { connectStatus == 407 && proxy.credential != nil && proxy.schemes != [.basic] }

    /// Reads what a handle knows.
    /// - Parameters:
    ///   - answers: the number of the proxy's answers to CONNECT.
    ///   - isRepeated: whether all of these are to a CONNECT with the credential.
    init(
        proxy: Proxy, origin: Origin, _ easy: EasyHandle, isSecuringProxy: Bool, answers: Int, isRepeated: Bool = false
    ) {
        self.proxy = proxy
        self.origin = origin
        self.isSecuringProxy = isSecuringProxy
        // libcurl waits for the challenge, except where it has no choice.
        hasSeenCredential = proxy.credential != nil && answers > (isRepeated || proxy.schemes == [.basic] ? 0 : 1)
        connectStatus = easy.long(CURLINFO_HTTP_CONNECTCODE)
        socksCode = CURLproxycode(UInt32(clamping: easy.long(CURLINFO_PROXY_ERROR)))
    }

    /// The failure; `nil` if the proxy is not its cause.
    func error(_ mapping: ErrorMapping) -> TransportError? {
        guard !mapping.isRequestSent else { return nil }
        // libcurl takes an interim response for the answer.
        let isOpen = isOpen(mapping)
        if !isOpen, connectStatus >= 300 || (100..<200).contains(connectStatus) { return connectError(mapping) }
        switch mapping.code {
        case CURLE_COULDNT_RESOLVE_PROXY:
            return make(.proxyNotFound, "the proxy \(name) has no address", mapping, isRetryable: true)
        case CURLE_COULDNT_CONNECT where (connectStatus == 0 || isOpen) && socksCode == CURLPX_OK:
            guard !mapping.isOffline else { return nil }
            let reason = mapping.text.isEmpty ? "" : ": \(mapping.text)"
            return make(.proxyNotReachable, "the proxy \(name) does not answer\(reason)", mapping, isRetryable: true)
        case CURLE_PROXY: return socksError(mapping)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM:
            guard isSecuringProxy else { return nil }
            return make(.proxyNotSecure, "no TLS with the proxy \(name): \(mapping.text)", mapping)
        case CURLE_RECV_ERROR where isOpen, CURLE_SEND_ERROR where isOpen, CURLE_GOT_NOTHING where isOpen:
            return make(
                .networkConnectionLost,
                "the proxy \(name) has asked for a user and a password, and the connection ended before it answered to them",
                mapping, isRetryable: true)
        default: return nil
        }
    }

    /// Whether the proxy has asked for the credential, and its connection or the next one has failed before an answer
    /// to that.
    private func isOpen(_ mapping: ErrorMapping) -> Bool {
        isAnswered && !hasSeenCredential && mapping.code != CURLE_WRITE_ERROR
            && !ProxyOutcome.isRefusal(mapping.text)
    }

    /// Whether libcurl's text says that it has no other answer to the proxy's status.
    static func isRefusal(_ text: String) -> Bool { text.contains("CONNECT tunnel failed") }

    private var name: String { proxy.description }
    private var target: String { "\(origin.host):\(origin.port)" }

    private func connectError(_ mapping: ErrorMapping) -> TransportError {
        // Some proxies, such as tinyproxy, answer 401 to a wrong password.
        guard connectStatus != 407, connectStatus != 401 else {
            let words =
                if proxy.credential == nil { "requires a user and a password" } else if hasSeenCredential {
                    "refuses the user or the password"
                } else { "offers no authentication scheme that may be used with the user and the password" }
            return make(
                .proxyAuthenticationRequired, "the proxy \(name) \(words) (\(connectStatus))", mapping)
        }
        return make(
            .proxyConnectRefused, "the proxy \(name) makes no connection to \(target) (\(connectStatus))", mapping,
            isRetryable: connectStatus >= 500)
    }

    private func socksError(_ mapping: ErrorMapping) -> TransportError {
        let (code, words, isRetryable) = ProxyOutcome.meaning(of: socksCode)
        guard let words else {
            return make(code, "the proxy \(name) does not speak \(proxy.kind.rawValue): \(mapping.text)", mapping)
        }
        return make(
            code, "the proxy \(name) makes no connection to \(target): \(words)", mapping, isRetryable: isRetryable)
    }

    private func make(
        _ code: TransportError.Code, _ message: String, _ mapping: ErrorMapping, isRetryable: Bool = false
    ) -> TransportError {
        TransportError(
            code, message, curlCode: Int32(bitPattern: mapping.code.rawValue),
            curlText: String(cString: curl_easy_strerror(mapping.code)),
            systemCode: mapping.systemCode == 0 ? nil : mapping.systemCode, isRetryable: isRetryable)
    }

    /// The replies of RFC 1928, section 6, and of SOCKS 4.
    private static func meaning(
        of code: CURLproxycode
    ) -> (code: TransportError.Code, words: String?, isRetryable: Bool) {
        switch code {
        case CURLPX_USER_REJECTED: (.proxyAuthenticationRequired, "it refuses the user or the password", false)
        case CURLPX_NO_AUTH: (.proxyAuthenticationRequired, "it requires a user and a password", false)
        case CURLPX_REPLY_GENERAL_SERVER_FAILURE: (.proxyGeneralFailure, "general failure (1)", true)
        case CURLPX_REPLY_NOT_ALLOWED: (.proxyNotAllowed, "its rules do not allow it (2)", false)
        case CURLPX_REPLY_NETWORK_UNREACHABLE: (.proxyNetworkUnreachable, "the network is unreachable (3)", true)
        case CURLPX_REPLY_HOST_UNREACHABLE: (.proxyHostUnreachable, "the host is unreachable (4)", true)
        case CURLPX_REPLY_CONNECTION_REFUSED: (.proxyConnectionRefused, "the host refuses the connection (5)", true)
        case CURLPX_REPLY_TTL_EXPIRED: (.proxyTTLExpired, "the time to live has expired (6)", true)
        case CURLPX_REPLY_COMMAND_NOT_SUPPORTED: (.proxyCommandNotSupported, "it does not know the command (7)", false)
        case CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED:
            (.proxyAddressTypeNotSupported, "it does not support the type of address (8)", false)
        case CURLPX_REQUEST_FAILED: (.proxyRequestRejected, "rejected or failed (91)", true)
        case CURLPX_IDENTD: (.proxyIdentFailed, "it cannot reach the identd of this machine (92)", false)
        case CURLPX_IDENTD_DIFFER: (.proxyIdentFailed, "the identd of this machine names another user (93)", false)
        case CURLPX_RESOLVE_HOST: (.proxyHostUnreachable, "the host has no address", true)
        case CURLPX_LONG_HOSTNAME: (.proxyAddressTypeNotSupported, "the name of the host is too long", false)
        case CURLPX_LONG_USER, CURLPX_LONG_PASSWD:
            (.proxyAuthenticationRequired, "the user or the password is longer than 255 bytes", false)
        default: (.proxyBadResponse, nil, false)
        }
    }
}
