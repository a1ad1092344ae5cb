import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct SessionErrorTests {
    static let hints: [(TransportError, String)] = [
        (TransportError(.cannotFindHost, ""), "spelling"), (TransportError(.cannotConnectToHost, ""), "port"),
        (TransportError(.timedOut, "", timeout: "connect"), "connect_timeout_ms"),
        (TransportError(.timedOut, "", timeout: "resource"), "resource_timeout_ms"),
        (TransportError(.timedOut, "", timeout: "idle"), "timeout_ms"),
        (TransportError(.serverCertificateUntrusted, ""), "trust.ca_file"),
        (TransportError(.serverCertificateHasUnknownRoot, ""), "trust.ca_file"),
        (TransportError(.serverCertificateHasBadDate, ""), "clock"),
        (TransportError(.serverCertificateNotYetValid, ""), "clock"),
        (
            TransportError(
                .serverCertificateUntrusted, "no alternative certificate subject name matches target hostname 'a'"),
            "--connect-to"
        ),
        (TransportError(.cannotConnectToHost, "Couldn't bind to interface 'nope0' with errno 19"), "--interface"),
        (TransportError(.cannotConnectToHost, "bind failed: Cannot assign requested address"), "--interface"),
        (TransportError(.cannotConnectToHost, "connect /run/x.sock: No such file or directory"), "Unix socket"),
        (TransportError(.cannotConnectToHost, "Could not connect to server"), "family"),
        (TransportError(.secureConnectionFailed, "SSL routines::wrong version number"), "http://"),
        (TransportError(.secureConnectionFailed, "SSL routines::sslv3 alert handshake failure"), "ciphers"),
        (TransportError(.secureConnectionFailed, "SSL routines::tlsv1 alert protocol version"), "max_version"),
        (TransportError(.dataLengthExceedsMaximum, "", isDecodedTooLarge: true), "max_ratio"),
        (TransportError(.dataLengthExceedsMaximum, ""), "head"),
    ]

    @Test("Failures with a known remedy have a hint", arguments: hints)
    func aHint(_ error: TransportError, _ word: String) throws {
        let failure = SessionError.sessionTaskFailed(error)
        #expect(failure.name == "session_task_failed.\(error.code.rawValue)")
        #expect(try #require(failure.hint).contains(word))
    }

    @Test("The transport decides whether it is retryable", arguments: [true, false])
    func retryable(_ isRetryable: Bool) {
        let error = TransportError(.networkConnectionLost, "gone", isRetryable: isRetryable)
        #expect(SessionError.sessionTaskFailed(error).isRetryable == isRetryable)
    }

    @Test("The names are the identity, and never change")
    func names() throws {
        let errors: [SessionError] = [
            .explicitlyCancelled, .sessionInvalidated, .bodyDataInGETRequest, .tooManyRedirects(16),
            .insecureRedirect("http://a.test/"), .invalidURL("", TransportError(.badURL, "no")),
            .invalidURL("ftp://a", TransportError(.unsupportedURL, "no")),
        ]
        #expect(
            errors.map(\.name) == [
                "explicitly_cancelled", "session_invalidated",
                "url_request_validation_failed.body_data_in_get_request",
                "session_task_failed.http_too_many_redirects", "session_task_failed.insecure_redirect", "invalid_url",
                "session_task_failed.unsupported_url",
            ])
        #expect(errors.allSatisfy { $0.code == 2000 && $0.description.hasPrefix("\($0.name): ") })
    }

    @Test("Texts of other parties are truncated")
    func lengths() {
        let long = String(repeating: "x", count: 10_000)
        #expect(SessionError.invalidURL(long, TransportError(.badURL, "no")).message.utf8.count < 300)
        #expect(SessionError.insecureRedirect(long).message.utf8.count < 300)
    }
}
