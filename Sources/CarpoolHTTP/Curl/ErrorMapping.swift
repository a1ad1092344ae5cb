internal import CCurl
internal import CarpoolSystem
internal import Glibc

/// The errors of libcurl and OpenSSL of a failed transfer, and how far it got: what is needed to name the failure.
struct ErrorMapping {
    /// libcurl's result.
    var code: CURLcode
    /// The text of its error buffer; may be empty.
    var text: String
    /// The `errno` of the connection's last failed call; 0 if there was none.
    var systemCode: Int32 = 0
    /// OpenSSL's result of verifying the peer's certificate (`X509_V_ERR_...`); 0 if it was valid or not verified.
    var verification = 0
    /// Whether the connection was established and the request about to be sent.
    var isRequestSent = false
    /// Whether the first line of a response has arrived.
    var hasStatusLine = false
    /// Whether the head of a response is complete.
    var hasHead = false
    /// Whether the method is idempotent, so that the request may be repeated.
    var isIdempotent = true
    /// Whether the connection had been used before.
    var isReused = false
    /// What the connection's server has said to the client's authentication; `nil` without TLS.
    var authentication: ClientAuthentication.State?
    /// What is known of the proxy; `nil` without one.
    var proxy: ProxyOutcome?
    /// Whether the server answered with 101.
    var isSwitchingProtocols = false
    /// The number of shortages (``Shortage``) before the transfer.
    var shortages = Shortage.count
    /// The `errno` of the shortage for which the look-up of the host has failed; 0 if it has not.
    var lookupShortage: Int32 = 0
    /// Whether an address was not tried for a shortage, whatever the other addresses have answered.
    var lacksSocket = false

    /// The server of a request without `Upgrade` has answered with 101.
    static let switchedError = TransportError(
        .badServerResponse, "the server switched protocols (101), which the request did not ask for")

    /// The error that the transfer fails with.
    var error: TransportError {
        if isSwitchingProtocols, !hasHead, code != CURLE_OPERATION_TIMEDOUT { return ErrorMapping.switchedError }
        if let error = shortageError ?? proxy?.error(self) { return error }
        let certificateError = certificateError
        let (kind, isTransient) = certificateError.map { ($0.code, false) } ?? classification
        return TransportError(
            kind, certificateError?.message ?? message(of: kind), curlCode: Int32(bitPattern: code.rawValue),
            curlText: String(cString: curl_easy_strerror(code)),
            systemCode: systemCode == 0 ? nil : systemCode,
            // libcurl has no other limit than that of connecting.
            timeout: kind == .timedOut ? "connect" : nil,
            needsBodyAgain: code == CURLE_SEND_FAIL_REWIND,
            isRetryable: isTransient && (isIdempotent || !isRequestSent))
    }

    /// The error if the daemon was short of a resource for what libcurl could not do: libcurl reports that like an
    /// unknown name, a refused connection or a bad file.
    private var shortageError: TransportError? {
        guard let missing = shortage else { return nil }
        Shortage.note(missing)
        return TransportError(
            .resourceUnavailable, "\(message(of: .resourceUnavailable)): \(Shortage.explanation(of: missing))",
            curlCode: Int32(bitPattern: code.rawValue), curlText: String(cString: curl_easy_strerror(code)),
            systemCode: missing, isRetryable: isIdempotent || !isRequestSent)
    }

    private var shortage: Int32? {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            // The text of both versions of libcurl for a thread that it could not start, or a pair of sockets for it
            // that it could not make.
            if text.contains("thread failed to start") { return Shortage.since(shortages) ?? EAGAIN }
            return lookupShortage != 0 ? lookupShortage : nil
        case CURLE_COULDNT_CONNECT:
            if Shortage.isShortage(systemCode) { return systemCode }
            return lacksSocket ? Shortage.since(shortages) : nil
        // Also for descriptors that it could not open.
        case CURLE_OUT_OF_MEMORY where !isHeadTooLarge: return Shortage.since(shortages) ?? ENOMEM
        case CURLE_FAILED_INIT, CURLE_SSL_CACERT_BADFILE: return Shortage.since(shortages)
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SSL_CONNECT_ERROR: return Shortage.code(in: text)
        default: return nil
        }
    }

    /// Whether the kernel had no route for a packet. Other numbers may also be the answer of another machine, or say
    /// that no local port or address is free (EADDRNOTAVAIL).
    var isOffline: Bool { systemCode == ENETUNREACH || systemCode == ENETDOWN }

    private func message(of kind: TransportError.Code) -> String {
        switch kind {
        case .dataLengthExceedsMaximum where isHeadTooLarge: return "the head of the response is too large"
        // The text is that of an earlier connection.
        case .timedOut where isRequestSent:
            let lost = text.isEmpty ? "the connection was lost" : text
            return "\(lost); no other connection was made in time to repeat it"
        default: return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        }
    }

    /// Whether libcurl rejected a head for its size. The older version has no code of its own for that, and over
    /// HTTP/2 it uses the one for a connection that cannot be read.
    private var isHeadTooLarge: Bool {
        guard isRequestSent, !hasHead else { return false }
        return code == CURLE_TOO_LARGE || code == CURLE_OUT_OF_MEMORY || text.contains("Too large")
            || text.contains("Too many response headers")
            // NGHTTP2_ERR_CALLBACK_FAILURE: what 7.88.1 says of a head of more than 128 KiB over HTTP/2.
            || text.contains("nghttp2_session_mem_recv() returned -902")
    }

    /// Whether the response of a stream of HTTP/2 is malformed (RFC 9113, section 8.1.1), as nghttp2 and the newer and
    /// the older version of libcurl say. What ends the whole connection may be the fault of another stream.
    private var isMalformed: Bool {
        text.contains("PROTOCOL_ERROR") || text.contains("Invalid HTTP header field")
            || text.contains("HTTP messaging rule")
    }

    /// The kind of failure, and whether it is transient: the same request may succeed later.
    private var classification: (kind: TransportError.Code, isTransient: Bool) {
        switch code {
        case CURLE_URL_MALFORMAT: (.badURL, false)
        // The same code means an unsupported protocol in the request and an unexpected one in the response.
        case CURLE_UNSUPPORTED_PROTOCOL: isRequestSent ? (.badServerResponse, true) : (.unsupportedURL, false)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: (.cannotFindHost, true)
        case CURLE_COULDNT_CONNECT:
            isOffline ? (.notConnectedToInternet, true) : (.cannotConnectToHost, true)
        // The interface or the local address is not there.
        case CURLE_INTERFACE_FAILED: (.cannotConnectToHost, true)
        case CURLE_OPERATION_TIMEDOUT: (.timedOut, true)
        case CURLE_HTTP2 where isHeadTooLarge, CURLE_HTTP2_STREAM where isHeadTooLarge:
            (.dataLengthExceedsMaximum, false)
        case CURLE_HTTP2_STREAM where isMalformed, CURLE_WEIRD_SERVER_REPLY where isMalformed:
            (.cannotParseResponse, false)
        case CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_GOT_NOTHING, CURLE_SEND_ERROR:
            (.networkConnectionLost, true)
        case CURLE_RECV_ERROR: receiveFailure
        // On a reused connection, the newer version has this code for a response that is not HTTP.
        case CURLE_WEIRD_SERVER_REPLY where isRequestSent && !hasStatusLine: (.badServerResponse, true)
        case CURLE_WEIRD_SERVER_REPLY: (.cannotParseResponse, false)
        case CURLE_OUT_OF_MEMORY where isHeadTooLarge: (.dataLengthExceedsMaximum, false)
        case CURLE_TOO_LARGE: (.dataLengthExceedsMaximum, false)
        // Contents are decoded elsewhere: what libcurl cannot decode is a transfer coding, and so framing.
        case CURLE_BAD_CONTENT_ENCODING: (.cannotParseResponse, false)
        // A trailer field without a colon.
        case CURLE_BAD_FUNCTION_ARGUMENT where hasHead: (.cannotParseResponse, false)
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

    /// libcurl has one code for a lost connection and for invalid framing; only its text distinguishes them.
    private var receiveFailure: (kind: TransportError.Code, isTransient: Bool) {
        if text.contains("chunk") { return (.cannotParseResponse, false) }
        if isHeadTooLarge { return (.dataLengthExceedsMaximum, false) }
        return (.networkConnectionLost, true)
    }

    /// The numbers are those of OpenSSL's `x509_vfy.h`; they have never changed.
    private var verificationFailure: (kind: TransportError.Code, isTransient: Bool) {
        switch verification {
        case 10: (.serverCertificateHasBadDate, true)
        case 9: (.serverCertificateNotYetValid, true)
        // No issuer to be found, or one that signed itself and is not among the authorities.
        case 2, 18, 19, 20, 21: (.serverCertificateHasUnknownRoot, false)
        default: (.serverCertificateUntrusted, false)
        }
    }
}
