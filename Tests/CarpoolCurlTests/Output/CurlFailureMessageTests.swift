import CarpoolJSON
import Testing

@testable import CarpoolCurl

/// The failures are answers of the daemon, and the lines are those of the real curl 8.14.1 for the same transfer.
struct CurlFailureMessageTests {
    private static func failure(_ json: String) throws -> CurlFailure { CurlFailure(try JSON.parse(Array(json.utf8))) }

    static let failures: [(String, String)] = [
        (
            #"{"name": "session_task_failed.cannot_find_host", "message": "Could not resolve host: nohost.invalid", "curl": {"code": 6, "text": "Could not resolve hostname"}}"#,
            "curl: (6) Could not resolve host: nohost.invalid"
        ),
        (
            #"{"name": "session_task_failed.cannot_connect_to_host", "message": "Failed to connect to 127.0.0.1 port 1 after 0 ms: Could not connect to server", "curl": {"code": 7, "text": "Could not connect to server"}, "errno": 111}"#,
            "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Could not connect to server"
        ),
        (
            #"{"name": "session_task_failed.network_connection_lost", "message": "Empty reply from server", "curl": {"code": 52, "text": "x"}}"#,
            "curl: (52) Empty reply from server"
        ),
        (
            #"{"name": "session_task_failed.network_connection_lost", "message": "Recv failure: Connection reset by peer", "curl": {"code": 56, "text": "x"}}"#,
            "curl: (56) Recv failure: Connection reset by peer"
        ),
        (
            #"{"name": "session_task_failed.network_connection_lost", "message": "end of response with 7 bytes missing", "curl": {"code": 18, "text": "x"}}"#,
            "curl: (18) end of response with 7 bytes missing"
        ),
        (
            #"{"name": "session_task_failed.bad_server_response", "message": "Received HTTP/0.9 when not allowed", "curl": {"code": 1, "text": "x"}}"#,
            "curl: (1) Received HTTP/0.9 when not allowed"
        ),
        (
            #"{"name": "session_task_failed.secure_connection_failed", "message": "TLS connect error: error:0A00010B:SSL routines::wrong version number", "curl": {"code": 35, "text": "x"}}"#,
            "curl: (35) TLS connect error: error:0A00010B:SSL routines::wrong version number"
        ),
        (
            #"{"name": "session_task_failed.server_certificate_has_unknown_root", "message": "SSL certificate problem: self-signed certificate", "curl": {"code": 60, "text": "x"}}"#,
            "curl: (60) SSL certificate problem: self-signed certificate"
        ),
        (
            #"{"name": "session_task_failed.data_length_exceeds_maximum", "message": "the head of the response is too large", "curl": {"code": 100, "text": "A value or data field grew larger than allowed"}}"#,
            "curl: (100) A value or data field grew larger than allowed"
        ),
        (
            #"{"name": "response_too_large", "message": "x", "details": {"limit_bytes": 5, "size_bytes": 10}}"#,
            "curl: (63) Maximum file size exceeded"
        ),
        (
            #"{"name": "response_too_large", "message": "x", "details": {"limit_bytes": 5}}"#,
            "curl: (63) Exceeded the maximum allowed file size (5) with 5 bytes"
        ),
        (
            #"{"name": "server_trust_evaluation_failed.public_key_pinning_failed", "message": "x"}"#,
            "curl: (90) SSL: public key does not match pinned public key"
        ),
        (#"{"name": "server_trust_evaluation_failed.host_validation_failed", "message": "m"}"#, "curl: (60) m"),
        (
            #"{"name": "session_task_failed.cannot_decode_content_data", "message": "m"}"#,
            "curl: (61) Error while processing content unencoding: incorrect header check"
        ),
        (#"{"name": "response_output_closed", "message": "m"}"#, "curl: (23) m"),
        (#"{"name": "queue_full", "message": "m"}"#, "curl: (2) m"),
    ]

    @Test(arguments: failures)
    func messages(_ json: String, _ line: String) throws {
        #expect(CurlFailureMessage.error(try CurlFailureMessageTests.failure(json)).line == line)
    }

    @Test func timeoutsSayHowFarTheTransferCame() throws {
        let failure = try CurlFailureMessageTests.failure(
            #"{"name": "session_task_failed.timed_out", "message": "no byte was sent for 300 ms", "timeout": "idle"}"#)
        var progress = CurlFailureMessage.Progress(elapsedMilliseconds: 302, receivedBytes: 3, totalBytes: 10)
        func line() -> String { CurlFailureMessage.error(failure, progress).line }
        #expect(line() == "curl: (28) Operation timed out after 302 milliseconds with 3 out of 10 bytes received")
        progress = CurlFailureMessage.Progress(elapsedMilliseconds: 300)
        #expect(line() == "curl: (28) Operation timed out after 300 milliseconds with 0 bytes received")
        progress.isConnected = false
        #expect(line() == "curl: (28) Connection timed out after 300 milliseconds")
        progress.slowSeconds = 1
        progress.slowBytesPerSecond = 100
        #expect(line() == "curl: (28) Operation too slow. Less than 100 bytes/sec transferred the last 1 seconds")
        let connect = try CurlFailureMessageTests.failure(
            #"{"name": "session_task_failed.timed_out", "message": "m", "timeout": "connect", "curl": {"code": 28}}"#)
        progress = CurlFailureMessage.Progress(elapsedMilliseconds: 200)
        let line = CurlFailureMessage.error(connect, progress).line
        #expect(line == "curl: (28) Connection timed out after 200 milliseconds")
    }
}
