internal import CCurl
internal import CTLS

/// Failures because of the client certificate: one that is missing, and one that is refused.
///
/// libcurl's result does not tell them: it is the one for a certificate of the server, for a handshake, for reading or
/// for writing, by the version of TLS and by what the server does next. So the server's alert decides.
extension ErrorMapping {
    /// The failure; `nil` if it has another cause.
    var certificateError: TransportError? {
        guard !hasStatusLine, let authentication else { return nil }
        if let error = authentication.error { return error }
        // Without an alert, only a missing certificate speaks for another cause than a lost connection.
        guard authentication.alert == nil, authentication.hasSentNone, !isReused else { return nil }
        switch code {
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_SSL_CONNECT_ERROR:
            return authentication.missingError
        default: return nil
        }
    }
}

extension ClientAuthentication.State {
    /// Why no request can be sent over the connection; `nil` if the client certificate is not the reason.
    var error: TransportError? {
        if let failure {
            return TransportError(
                TransportError.Code(rawValue: "client_certificate.\(failure.name)"), failure.message)
        }
        guard isRequested, let alert, concernsCertificates(alert) else { return nil }
        guard !hasSentNone else { return missingError }
        if alert == SSL_AD_CERTIFICATE_EXPIRED {
            return TransportError(
                .clientCertificateExpired,
                "the server says that the client certificate, or one of its chain, has expired")
        }
        let words = SSL_alert_desc_string_long(alert).map { String(cString: $0) } ?? "unknown"
        return TransportError(
            .clientCertificateRejected, "the server refuses the client certificate: \(words) (alert \(alert))")
    }

    /// The server wanted a client certificate, and ended the connection without one.
    var missingError: TransportError {
        guard certificate == nil else {
            return TransportError(
                .clientCertificateRejected,
                "the server accepts no client certificate with a key of this kind, so that none was sent")
        }
        return TransportError(
            .clientCertificateRequired,
            "the server requires a client certificate, and ended the connection as none was sent")
    }

    /// Whether a server sends this alert for a certificate, or for its signature.
    private func concernsCertificates(_ alert: Int32) -> Bool {
        switch alert {
        case SSL_AD_HANDSHAKE_FAILURE, SSL_AD_NO_CERTIFICATE, SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE,
            SSL_AD_CERTIFICATE_REVOKED, SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA,
            SSL_AD_ACCESS_DENIED, SSL_AD_DECRYPT_ERROR, SSL_AD_INSUFFICIENT_SECURITY, SSL_AD_CERTIFICATE_REQUIRED:
            true
        default: false
        }
    }
}
