internal import CCurl
internal import Glibc

/// What libcurl and OpenSSL said when a transfer failed, and what had been done by then: enough to name the failure.
struct ErrorMapping {
    /// libcurl's result.
    var code: CURLcode
    /// The text of its error buffer; may be empty.
    var text: String
    /// The `errno` of the connection's last failed call; 0 if there was none.
    var systemCode: Int32 = 0
    /// OpenSSL's verdict on the peer's certificate (`X509_V_ERR_...`); 0 if it was fine or never asked for.
    var verification = 0
    /// Whether the connection stood and the request was about to be sent.
    var isRequestSent = false
    /// Whether the head of a response is complete.
    var hasHead = false
    /// Whether the method may be repeated.
    var isIdempotent = true

    /// The failure under its name.
    var error: TransportError {
        let (kind, isPassing) = classification
        return TransportError(
            kind, message, curlCode: Int32(bitPattern: code.rawValue),
            curlText: String(cString: curl_easy_strerror(code)),
            systemCode: systemCode == 0 ? nil : systemCode,
            timeout: kind == .timedOut ? (isRequestSent ? "resource" : "connect") : nil,
            isRetryable: isPassing && (isIdempotent || !isRequestSent))
    }

    /// Whether the kernel had no way for a packet. Other numbers may as well be another machine's answer.
    private var isOffline: Bool {
        systemCode == ENETUNREACH || systemCode == ENETDOWN || systemCode == EADDRNOTAVAIL
    }

    private var message: String {
        if !text.isEmpty { return text }
        return String(cString: curl_easy_strerror(code))
    }

    /// The kind, and whether the same request may find things otherwise another time.
    private var classification: (kind: TransportError.Code, isPassing: Bool) {
        switch code {
        case CURLE_URL_MALFORMAT: (.badURL, false)
        // The same number stands for a protocol that was never asked for and for an answer in none.
        case CURLE_UNSUPPORTED_PROTOCOL: isRequestSent ? (.badServerResponse, true) : (.unsupportedURL, false)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: (.cannotFindHost, true)
        case CURLE_COULDNT_CONNECT:
            isOffline ? (.notConnectedToInternet, true) : (.cannotConnectToHost, true)
        case CURLE_OPERATION_TIMEDOUT: (.timedOut, true)
        case CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_GOT_NOTHING, CURLE_SEND_ERROR:
            (.networkConnectionLost, true)
        case CURLE_RECV_ERROR: receiveFailure
        case CURLE_WEIRD_SERVER_REPLY: (.cannotParseResponse, false)
        case CURLE_BAD_CONTENT_ENCODING: (.cannotDecodeContentData, false)
        case CURLE_FILESIZE_EXCEEDED: (.dataLengthExceedsMaximum, false)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: (.secureConnectionFailed, true)
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE: (.secureConnectionFailed, false)
        case CURLE_PEER_FAILED_VERIFICATION: verificationFailure
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS: (.serverCertificateUntrusted, false)
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT: (.clientCertificateRejected, false)
        case CURLE_READ_ERROR, CURLE_SEND_FAIL_REWIND: (.requestBodyStreamExhausted, false)
        default: (.unknown, false)
        }
    }

    /// libcurl has one number for a lost connection and for framing that cannot be read; only its text tells them apart.
    private var receiveFailure: (kind: TransportError.Code, isPassing: Bool) {
        if text.contains("chunk") { return (.cannotParseResponse, false) }
        if text.contains("certificate required") { return (.clientCertificateRejected, false) }
        if !hasHead, text.contains("Too large") { return (.dataLengthExceedsMaximum, false) }
        return (.networkConnectionLost, true)
    }

    /// The numbers are those of OpenSSL's `x509_vfy.h`; they have never changed.
    private var verificationFailure: (kind: TransportError.Code, isPassing: Bool) {
        switch verification {
        case 10: (.serverCertificateHasBadDate, true)
        case 9: (.serverCertificateNotYetValid, true)
        // No issuer to be found, or one that signed itself and is not among the authorities.
        case 2, 18, 19, 20, 21: (.serverCertificateHasUnknownRoot, false)
        default: (.serverCertificateUntrusted, false)
        }
    }
}
