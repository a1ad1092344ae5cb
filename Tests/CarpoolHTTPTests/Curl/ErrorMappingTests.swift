import CCurl
import Glibc
import Testing

@testable import CarpoolHTTP

struct ErrorMappingTests {
    @Test(arguments: [
        (CURLE_UNSUPPORTED_PROTOCOL, "unsupported_url", false), (CURLE_URL_MALFORMAT, "bad_url", false),
        (CURLE_COULDNT_RESOLVE_HOST, "cannot_find_host", true), (CURLE_COULDNT_CONNECT, "cannot_connect_to_host", true),
        (CURLE_WEIRD_SERVER_REPLY, "cannot_parse_response", false), (CURLE_HTTP2, "network_connection_lost", true),
        (CURLE_PARTIAL_FILE, "network_connection_lost", true),
        (CURLE_READ_ERROR, "request_body_stream_exhausted", false),
        (CURLE_OPERATION_TIMEDOUT, "timed_out", true), (CURLE_SSL_CONNECT_ERROR, "secure_connection_failed", true),
        (CURLE_GOT_NOTHING, "network_connection_lost", true), (CURLE_SEND_ERROR, "network_connection_lost", true),
        (CURLE_RECV_ERROR, "network_connection_lost", true), (CURLE_HTTP2_STREAM, "network_connection_lost", true),
        (CURLE_SSL_CERTPROBLEM, "client_certificate.rejected", false),
        (CURLE_PEER_FAILED_VERIFICATION, "server_certificate_untrusted", false),
        (CURLE_BAD_CONTENT_ENCODING, "cannot_parse_response", false),
        (CURLE_FILESIZE_EXCEEDED, "data_length_exceeds_maximum", false),
        (CURLE_SEND_FAIL_REWIND, "request_body_stream_exhausted", false),
        (CURLE_SSL_CACERT_BADFILE, "secure_connection_failed", false),
    ]) func namesEachResult(code: CURLcode, name: String, isRetryable: Bool) {
        let error = ErrorMapping(code: code, text: "what happened").error
        #expect(error.code.rawValue == name)
        #expect(error.isRetryable == isRetryable)
        #expect(error.message == "what happened")
        #expect(error.curlCode == Int32(code.rawValue))
        #expect(error.curlText?.isEmpty == false)
    }

    @Test(arguments: [
        (10, "server_certificate_has_bad_date"), (9, "server_certificate_not_yet_valid"),
        (18, "server_certificate_has_unknown_root"), (19, "server_certificate_has_unknown_root"),
        (20, "server_certificate_has_unknown_root"), (62, "server_certificate_untrusted"),
        (0, "server_certificate_untrusted"),
    ]) func looksAtOpenSSLsVerdict(verdict: Int, name: String) {
        let error = ErrorMapping(code: CURLE_PEER_FAILED_VERIFICATION, text: "", verification: verdict).error
        #expect(error.code.rawValue == name)
        #expect(!error.message.isEmpty)
    }

    @Test(arguments: [ENETUNREACH, ENETDOWN]) func withoutAWayThereIsNoInternet(code: Int32) {
        let error = ErrorMapping(code: CURLE_COULDNT_CONNECT, text: "", systemCode: code).error
        #expect(error.code == .notConnectedToInternet)
        #expect(error.systemCode == code)
        #expect(error.isRetryable)
    }

    @Test(arguments: [ECONNREFUSED, EHOSTUNREACH, EACCES]) func whatAnotherMachineMayHaveSaidIsNoProof(code: Int32) {
        let error = ErrorMapping(code: CURLE_COULDNT_CONNECT, text: "", systemCode: code).error
        #expect(error.code == .cannotConnectToHost)
    }

    @Test("A time-out of libcurl is that of connecting, also when a lost connection is replaced")
    func timeouts() {
        let first = ErrorMapping(code: CURLE_OPERATION_TIMEDOUT, text: "Connection timed out").error
        #expect(first.timeout == "connect" && first.message == "Connection timed out")
        let stale = "Recv failure: Connection reset by peer"
        let second = ErrorMapping(code: CURLE_OPERATION_TIMEDOUT, text: stale, isRequestSent: true).error
        #expect(second.timeout == "connect" && second.code == .timedOut)
        #expect(second.message == "\(stale); no other connection was made in time to repeat it")
    }

    @Test(
        "What libcurl could not do for a shortage is no fault of the host, of the network or of a file",
        arguments: [
            (CURLE_COULDNT_RESOLVE_HOST, "getaddrinfo() thread failed to start", 0),
            (CURLE_COULDNT_RESOLVE_PROXY, "getaddrinfo() thread failed to start", 0),
            (CURLE_COULDNT_CONNECT, "", EMFILE), (CURLE_OUT_OF_MEMORY, "", 0),
            (CURLE_RECV_ERROR, "Recv failure: Cannot allocate memory", 0),
            (CURLE_SEND_ERROR, "Send failure: No buffer space available", 0),
        ])
    func shortages(code: CURLcode, text: String, systemCode: Int32) {
        let error = ErrorMapping(code: code, text: text, systemCode: systemCode).error
        #expect(error.code == .resourceUnavailable)
        #expect(error.isRetryable && error.systemCode != nil)
        #expect(error.curlCode == Int32(code.rawValue))
    }

    @Test("An address that was not tried for a shortage is the reason, whatever another one has answered")
    func untriedAddress() {
        var mapping = ErrorMapping(code: CURLE_COULDNT_CONNECT, text: "", systemCode: ECONNREFUSED)
        mapping.shortages -= 1
        #expect(mapping.error.code == .cannotConnectToHost)
        mapping.lacksSocket = true
        #expect(mapping.error.code == .resourceUnavailable)
    }

    @Test func tellsFramingFromALostConnection() {
        #expect(ErrorMapping(code: CURLE_RECV_ERROR, text: "Illegal chunk").error.code == .cannotParseResponse)
        for text in [
            "stream 1 was not closed cleanly: PROTOCOL_ERROR (err 1)", "Invalid HTTP header field was received",
        ] {
            let malformed = ErrorMapping(code: CURLE_HTTP2_STREAM, text: text, isRequestSent: true)
            #expect(malformed.error.code == .cannotParseResponse && !malformed.error.isRetryable)
            #expect(ErrorMapping(code: CURLE_HTTP2, text: text).error.code == .networkConnectionLost)
        }
        let rule = "error -532: Violation in HTTP messaging rule"
        let unnamed = ErrorMapping(code: CURLE_WEIRD_SERVER_REPLY, text: rule, isRequestSent: true)
        #expect(unnamed.error.code == .cannotParseResponse)
        let trailer = ErrorMapping(code: CURLE_BAD_FUNCTION_ARGUMENT, text: "Invalid response header", hasHead: true)
        #expect(trailer.error.code == .cannotParseResponse && !trailer.error.isRetryable)
        #expect(ErrorMapping(code: CURLE_BAD_FUNCTION_ARGUMENT, text: "").error.code == .unknown)
        let rubbish = ErrorMapping(code: CURLE_UNSUPPORTED_PROTOCOL, text: "HTTP/0.9", isRequestSent: true)
        #expect(rubbish.error.code == .badServerResponse)
    }

    @Test("F8: a response that is not HTTP has one name for all of libcurl's numbers")
    func f8NoHTTP() {
        for code in [CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY] {
            let error = ErrorMapping(code: code, text: "Invalid status line", isRequestSent: true).error
            #expect(error.code == .badServerResponse && error.isRetryable)
        }
        let field = ErrorMapping(code: CURLE_WEIRD_SERVER_REPLY, text: "", isRequestSent: true, hasStatusLine: true)
        #expect(field.error.code == .cannotParseResponse && !field.error.isRetryable)
    }

    @Test("F8: a head that is too large", arguments: [CURLE_TOO_LARGE, CURLE_OUT_OF_MEMORY])
    func f8LargeHead(code: CURLcode) {
        let error = ErrorMapping(code: code, text: "", isRequestSent: true).error
        #expect(error.code == .dataLengthExceedsMaximum && error.message.contains("head"))
    }

    @Test(
        "F8: too many fields have one name over both versions",
        arguments: [CURLE_TOO_LARGE, CURLE_RECV_ERROR, CURLE_HTTP2])
    func f8ManyFields(code: CURLcode) {
        let error = ErrorMapping(code: code, text: "Too many response headers, 5000 is max", isRequestSent: true).error
        #expect(error.code == .dataLengthExceedsMaximum && !error.isRetryable && error.message.contains("head"))
    }

    @Test(
        "F8: a connection that ends unanswered after the server asked for a certificate was refused",
        arguments: [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2])
    func f8Certificate(code: CURLcode) {
        var mapping = ErrorMapping(code: code, text: "Broken pipe", isRequestSent: true)
        mapping.authentication = ClientAuthentication.State(isRequested: true, hasSentNone: true)
        #expect(mapping.error.code == .clientCertificateRequired && !mapping.error.isRetryable)
        mapping.hasStatusLine = true
        #expect(mapping.error.code == .networkConnectionLost)
        mapping = ErrorMapping(code: code, text: "Broken pipe", isRequestSent: true)
        #expect(mapping.error.code == .networkConnectionLost)
    }

    @Test func whatMayHaveBeenDoneIsNotRepeated() {
        var mapping = ErrorMapping(code: CURLE_RECV_ERROR, text: "", isRequestSent: true, isIdempotent: false)
        #expect(!mapping.error.isRetryable)
        mapping.isRequestSent = false
        #expect(mapping.error.isRetryable)
        mapping.isRequestSent = true
        mapping.isIdempotent = true
        #expect(mapping.error.isRetryable)
    }

    @Test(arguments: [
        ("[HTTP/2] [21] REFUSED_STREAM, try again on a new connection\n", true), ("[HTTP/2] [21] REFUSED_STREAM", true),
        ("[HTTP/2] [1] header: x: ] REFUSED_STREAM", false), ("[HTTP/2] [] REFUSED_STREAM", false),
        ("[HTTP/2] [21] RESET: REFUSED_STREAM (err 7)", false), ("REFUSED_STREAM", false), ("", false),
        ("[HTTP/2] [2", false), ("Downgrades to HTTP/1.1\n", true), ("x: Downgrades to HTTP/1.1\n", false),
    ]) func knowsARefusedStream(message: String, isRefusal: Bool) {
        #expect(Array(message.utf8).withUnsafeBytes { RefusalMessage.matches($0) } == isRefusal)
    }

    @Test func onlyFitVersionsMultiplex() {
        #expect(CurlLibrary.profile(ofVersion: 0x07_58_01) == .http1)
        #expect(CurlLibrary.profile(ofVersion: 0x08_0E_00) == .http1)
        #expect(CurlLibrary.profile(ofVersion: 0x08_0E_01) == .multiplex)
    }
}
