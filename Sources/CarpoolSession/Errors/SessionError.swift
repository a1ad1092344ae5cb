public import CarpoolHTTP
internal import Glibc

/// Why a request failed: a stable name for each case and reason, a message for people, and details.
///
/// An immutable class: a request has many places for a failure and passes them on at every step, and few requests have
/// one.
public final class SessionError: Error, Sendable, CustomStringConvertible {
    /// The identity: `case` or `case.reason`, in snake case.
    public let name: String
    /// What happened, for people; may change.
    public let message: String
    /// A remedy, if one is known.
    public let hint: String?
    /// Whether a retry may succeed, and does no harm.
    public let isRetryable: Bool
    /// The transport's error, for failures of the network.
    public let transport: TransportError?
    /// The details of the case (session model §1.14), in order.
    public let details: [Detail]

    /// One named detail of a failure.
    public struct Detail: Sendable {
        /// Its name in the record, in snake case.
        public let name: String
        /// The value.
        public let value: Value

        /// Makes a detail.
        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// The types of values of details.
    public enum Value: Sendable {
        /// A text.
        case string(String)
        /// A number.
        case integer(Int)
        /// Texts in order.
        case strings([String])
        /// A boolean.
        case boolean(Bool)
        /// Nested details.
        case facts([Detail])
        /// Another failure: the cause, or the one before.
        case error(SessionError)
    }

    /// Makes an error from its parts.
    public init(
        _ name: String, _ message: String, hint: String? = nil, isRetryable: Bool = false,
        transport: TransportError? = nil, details: [Detail] = []
    ) {
        self.name = name
        self.message = message
        self.hint = hint
        self.isRetryable = isRetryable
        self.transport = transport
        self.details = details
    }

    /// The failure that a detail of that name holds.
    public func cause(_ name: String) -> SessionError? {
        for detail in details where detail.name == name {
            if case .error(let error) = detail.value { return error }
        }
        return nil
    }

    /// The code of every failure inside an outcome; the name identifies the failure.
    public var code: Int { 2000 }

    /// The text `name: message`.
    public var description: String { "\(name): \(message)" }

    /// A call of ``Request/cancel()``, or a disconnected client.
    static let explicitlyCancelled = SessionError("explicitly_cancelled", "the request was cancelled")

    /// The session was invalidated under the request.
    static let sessionInvalidated = SessionError("session_invalidated", "the request's session was invalidated")

    /// The URL is invalid.
    static func invalidURL(_ url: String, _ error: TransportError) -> SessionError {
        guard error.code != .unsupportedURL else { return sessionTaskFailed(error) }
        // Monitors receive failures, and must not see a password.
        let shown = Redaction.withoutUserInformation(url)
        return SessionError(
            "invalid_url", "\(error.message): \(beginning(of: shown))",
            hint: "write the whole URL, with http:// or https://", transport: error,
            details: [Detail("url", .string(shown))])
    }

    /// A GET that carries a body (the model refuses it before anything is sent).
    static let bodyDataInGETRequest = SessionError(
        "url_request_validation_failed.body_data_in_get_request", "a GET request must not have a body",
        hint: "leave the body out, use POST, PUT or PATCH, or make it an upload (kind \"upload\")")

    /// An adapter failed, or returned a request that must not be sent.
    static func requestAdaptationFailed(_ cause: SessionError) -> SessionError {
        SessionError(
            "request_adaptation_failed", "an adapter failed: \(cause.message)", hint: cause.hint,
            isRetryable: cause.isRetryable, transport: cause.transport, details: [Detail("underlying", .error(cause))])
    }

    /// A retrier replaced the failure.
    static func requestRetryFailed(_ reason: SessionError, original: SessionError) -> SessionError {
        SessionError(
            "request_retry_failed", "no retry: \(reason.message); the first failure was: \(original.message)",
            hint: reason.hint ?? original.hint,
            details: [Detail("retry_error", .error(reason)), Detail("original_error", .error(original))])
    }

    /// The network or the origin failed the request.
    static func sessionTaskFailed(_ error: TransportError, details: [Detail] = []) -> SessionError {
        if let failure = error.trust { return .serverTrustEvaluationFailed(failure, details: details) }
        return SessionError(
            "session_task_failed.\(error.code.rawValue)", error.message,
            hint: handshakeHint(for: error) ?? hint(for: error), isRetryable: error.isRetryable, transport: error,
            details: details)
    }

    /// Truncates a text for a message. By scalars: one character may be as long as the text.
    static func beginning(of text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(200)))
    }

    private static func hint(for error: TransportError) -> String? {
        switch error.code {
        case .cannotFindHost: "check the host's spelling, and the name servers in /etc/resolv.conf"
        case .notConnectedToInternet: "set waits_for_connectivity to true to wait until the network is available"
        case .cannotConnectToHost where error.systemCode == EADDRNOTAVAIL:
            "this machine has no free local port (net.ipv4.ip_local_port_range), or no address for this destination"
        case .cannotConnectToHost: connectionHint(for: error.message)
        case .timedOut where error.wait != nil:
            switch error.wait?.obstacle {
            case "total": "wait longer, or raise limits.total_connections"
            case "lookups": "check the name servers in /etc/resolv.conf: they answer late or not at all"
            case "client":
                "send fewer requests at a time, or raise connections_per_host or limits.host_connections_per_client"
            default: "wait longer, or raise limits.host_connections"
            }
        case .timedOut where error.timeout == "connect":
            "the host did not respond: check the address, or raise connect_timeout_ms"
        case .timedOut where error.timeout == "resource": "raise resource_timeout_ms (--timeout)"
        case .timedOut where error.timeout == "body": "send the body sooner, or raise timeout_ms"
        case .timedOut: "raise timeout_ms if the origin is expected to be silent for that long"
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: datesHint
        case .serverCertificateUntrusted where error.message.contains("subject name"): otherHostHint
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot:
            "set trust.ca_file (--cacert) to the file of the certificate authority, or disable the check with trust.verify false (--insecure)"
        case .clientCertificateRequired: "set client_certificate (--cert) to the file of a certificate and its key"
        case .clientCertificateExpired: "renew the certificate, or check the clock of this machine"
        case .clientCertificateRejected:
            "check that the server trusts the certificate's issuer and accepts its kind of key, and that the file has the whole chain"
        case .clientCertificateUnsupportedKey: "use an RSA key of at least 2,048 bits, P-256 or Ed25519"
        case .requestBodyStreamExhausted:
            "send the body from a file or by a callback, so that it can be sent more than once"
        case .cannotDecodeContentData: "set decode to false to get the body as it was sent"
        case .dataLengthExceedsMaximum where error.isDecodedTooLarge: "raise max_ratio if you trust the origin"
        case .dataLengthExceedsMaximum:
            "the origin must send less: the limits for a head are 300,000 bytes, 256 lines and 100 KiB a line, and cannot be raised"
        default: proxyHint(for: error.code)
        }
    }

    private static func proxyHint(for code: TransportError.Code) -> String? {
        switch code {
        case .proxyNotFound, .proxyNotReachable, .proxyBadResponse:
            "check proxy (--proxy, and http_proxy, https_proxy and all_proxy in the environment of the program)"
        case .proxyNotSecure:
            "check the proxy's name, and set trust.ca_file (--cacert) to the file of its certificate authority"
        case .proxyAuthenticationRequired:
            "set the user and the password of the proxy (--proxy-user), or no_proxy (--noproxy) for this host"
        case .proxyConnectRefused, .proxyNotAllowed:
            "ask who runs the proxy, or set no_proxy (--noproxy) for this host"
        default: nil
        }
    }

    /// The hint for a certificate whose dates are wrong.
    static var datesHint: String {
        "check the clock of this machine; if it is right, the server needs a new certificate"
    }

    /// The hint for a certificate of another host.
    static var otherHostHint: String {
        "use a host that the certificate names, and addresses (--connect-to, --resolve) if that host has another address; or leave out this check with an evaluator that has validate_host false"
    }

    /// The hint for a connection that was not made, by the text of libcurl or of the Unix socket.
    private static func connectionHint(for text: String) -> String {
        if text.contains("bind to") || text.contains("Cannot assign requested address") {
            return "check addresses.interface or local_address (--interface): 'ip address' shows what this machine has"
        }
        if text.hasPrefix("connect /") { return "check the path of the Unix socket, and that the server is running" }
        if text == "Could not connect to server" {
            return
                "check the port, that the server is running, and that the URL's address is of addresses.family (-4, -6)"
        }
        return "check the port, and that the server is running"
    }

    /// The hint for a server whose TLS does not suit the settings, by OpenSSL's texts; `nil` for other failures.
    private static func handshakeHint(for error: TransportError) -> String? {
        guard error.code == .secureConnectionFailed || error.code == .serverCertificateUntrusted else { return nil }
        let text = error.message
        if text.contains("too weak") || text.contains("too small") {
            return
                "the server's key or signature is too weak for OpenSSL's security level; set tls.ciphers (--ciphers) to DEFAULT@SECLEVEL=0 to accept it"
        }
        let texts = [
            "legacy sigalg", "no protocols available", "unsupported protocol", "alert protocol version",
            "wrong ssl version",
        ]
        if texts.contains(where: text.contains) {
            return
                "the server accepts other versions of TLS: set tls.min_version and max_version (--tlsv1.0 to --tlsv1.3, --tls-max), and for TLS 1.0 and 1.1 also tls.ciphers (--ciphers) to DEFAULT@SECLEVEL=0"
        }
        if text.contains("wrong version number") {
            return "the answer is not TLS: check the port, or use http://"
        }
        guard text.contains("alert handshake failure") else { return nil }
        return
            "the server accepts none of the ciphers: check tls.ciphers and tls13_ciphers (--ciphers, --tls13-ciphers)"
    }
}
