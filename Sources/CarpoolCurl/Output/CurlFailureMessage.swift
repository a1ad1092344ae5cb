/// curl's exit code and message for a failure of the daemon. Most messages are libcurl's own, which the daemon passes
/// on; for failures that the daemon finds by itself the message is made from what is known.
struct CurlFailureMessage {
    /// How far the transfer came.
    struct Progress: Equatable {
        var elapsedMilliseconds = 0
        var receivedBytes: Int64 = 0
        /// The length of the body; `nil` if it is not known.
        var totalBytes: Int64?
        /// Whether a connection was made.
        var isConnected = true
        /// `-y` and `-Y`, if the time-out is theirs.
        var slowSeconds: Int?
        var slowBytesPerSecond: Int?
    }

    /// The failure of a transfer.
    static func error(_ failure: CurlFailure, _ progress: Progress = Progress()) -> CurlError {
        if let code = failure.code, code > 0 {
            if code == CurlExitCode.timedOut { return timeout(failure, progress) }
            return CurlError(exitCode: code, message: message(failure, code))
        }
        let name = failure.name.split(separator: ".").last.map(String.init) ?? ""
        if failure.name.hasPrefix("server_trust_evaluation_failed") { return trust(failure, name) }
        switch name {
        case "timed_out": return timeout(failure, progress)
        case "response_too_large": return tooLarge(failure)
        case "cannot_decode_content_data":
            return CurlError(
                exitCode: CurlExitCode.badEncoding,
                message: "Error while processing content unencoding: incorrect header check")
        default: return CurlError(exitCode: codes[name] ?? CurlExitCode.failedInitialization, message: failure.message)
        }
    }

    /// The message of libcurl; its text if the daemon has put its own words in its place.
    private static func message(_ failure: CurlFailure, _ code: Int32) -> String {
        if code == CurlExitCode.tooLargeValue, let text = failure.text { return text }
        guard !failure.message.isEmpty else { return failure.text ?? CurlErrorText.of(code) }
        if let text = reworded(failure, code) { return text }
        // The daemon names a proxy before libcurl's message.
        let starts = ["Failed to connect to ", "Could not resolve "]
        let start = starts.lazy.compactMap { failure.message.firstRange(of: $0)?.lowerBound }.first
        return start.map { String(failure.message[$0...]) } ?? failure.message
    }

    /// curl's text for a failure that the daemon puts into its own words.
    private static func reworded(_ failure: CurlFailure, _ code: Int32) -> String? {
        let message = failure.message
        switch code {
        case CurlExitCode.unresolvedProxy:
            guard let url = message.firstRange(of: "://").map({ message[$0.upperBound...] }) else { return nil }
            return "Could not resolve proxy: \(url.prefix { $0 != ":" && $0 != " " && $0 != "/" })"
        case CurlExitCode.emptyReply: return "Empty reply from server"
        case CurlExitCode.cannotRewind: return "seek callback returned error 2"
        case CurlExitCode.receiveError:
            guard message.hasPrefix("the proxy "), let status = message.firstRange(of: "(40") else { return nil }
            return "CONNECT tunnel failed, response \(message[status.lowerBound...].dropFirst().prefix(3))"
        case CurlExitCode.proxyHandshake:
            return message.contains("requires a user") ? "No authentication method was acceptable." : nil
        case CurlExitCode.interfaceFailed:
            return message.replacing("bind to interface '", with: "bind to '")
        default: return nil
        }
    }

    /// The message if `-y` and `-Y` end a transfer.
    static func tooSlow(bytesPerSecond: Int, seconds: Int) -> String {
        "Operation too slow. Less than \(bytesPerSecond) bytes/sec transferred the last \(seconds) seconds"
    }

    private static func timeout(_ failure: CurlFailure, _ progress: Progress) -> CurlError {
        let after = "after \(progress.elapsedMilliseconds) milliseconds"
        let message: String
        if let seconds = progress.slowSeconds, let speed = progress.slowBytesPerSecond {
            message = tooSlow(bytesPerSecond: speed, seconds: seconds)
        } else if failure.timeout == "connect" || !progress.isConnected {
            message = "Connection timed out \(after)"
        } else {
            let total = progress.totalBytes.map { " out of \($0)" } ?? ""
            message = "Operation timed out \(after) with \(progress.receivedBytes)\(total) bytes received"
        }
        return CurlError(exitCode: CurlExitCode.timedOut, message: message)
    }

    private static func tooLarge(_ failure: CurlFailure) -> CurlError {
        guard failure.sizeBytes == nil, let limit = failure.limitBytes else {
            return CurlError(CurlExitCode.tooLargeFile)
        }
        return CurlError(
            exitCode: CurlExitCode.tooLargeFile,
            message: "Exceeded the maximum allowed file size (\(limit)) with \(limit) bytes")
    }

    private static func trust(_ failure: CurlFailure, _ name: String) -> CurlError {
        switch name {
        case "public_key_pinning_failed", "certificate_pinning_failed":
            CurlError(
                exitCode: CurlExitCode.unpinnedKey, message: "SSL: public key does not match pinned public key")
        // That of a list is one of the chain; the stapled answer has a code of its own.
        case "revocation_check_failed" where failure.message.contains("stapled"):
            CurlError(exitCode: CurlExitCode.badCertificateStatus, message: failure.message)
        default: CurlError(exitCode: CurlExitCode.unverifiedPeer, message: failure.message)
        }
    }

    /// The exit codes of failures that libcurl did not report, by the last part of their name.
    private static let codes: [String: Int32] = [
        "bad_url": CurlExitCode.malformedURL, "invalid_url": CurlExitCode.malformedURL,
        "unsupported_url": CurlExitCode.unsupportedProtocol, "insecure_redirect": CurlExitCode.unsupportedProtocol,
        "cannot_find_host": CurlExitCode.unresolvedHost, "cannot_connect_to_host": CurlExitCode.noConnection,
        "not_connected_to_internet": CurlExitCode.noConnection, "network_connection_lost": CurlExitCode.receiveError,
        "bad_server_response": CurlExitCode.weirdReply, "cannot_parse_response": CurlExitCode.weirdReply,
        "cannot_decode_content_data": CurlExitCode.badEncoding, "secure_connection_failed": CurlExitCode.tlsError,
        "data_length_exceeds_maximum": CurlExitCode.tooLargeValue,
        "server_certificate_untrusted": CurlExitCode.unverifiedPeer,
        "server_certificate_has_bad_date": CurlExitCode.unverifiedPeer,
        "server_certificate_not_yet_valid": CurlExitCode.unverifiedPeer,
        "server_certificate_has_unknown_root": CurlExitCode.unverifiedPeer,
        "required": CurlExitCode.clientCertificate, "expired": CurlExitCode.clientCertificate,
        "rejected": CurlExitCode.clientCertificate, "unsupported_key": CurlExitCode.clientCertificate,
        "http_too_many_redirects": CurlExitCode.tooManyRedirects, "too_many_hops": CurlExitCode.tooManyRedirects,
        "too_many_challenges": CurlExitCode.tooManyRedirects,
        "request_body_stream_exhausted": CurlExitCode.readError, "create_uploadable_failed": CurlExitCode.readError,
        "disk_full": CurlExitCode.writeError, "cannot_write_to_file": CurlExitCode.writeError,
        "spool_full": CurlExitCode.writeError, "response_output_closed": CurlExitCode.writeError,
        "explicitly_cancelled": CurlExitCode.aborted, "cancelled": CurlExitCode.aborted,
        "session_invalidated": CurlExitCode.aborted,
    ]
}
