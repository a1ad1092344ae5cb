import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct RetryPolicyTests {
    private static func decide(
        _ policy: RetryPolicy = RetryPolicy(), _ count: Int = 0, method: String = "GET", status: Int? = nil,
        code: Int? = nil
    ) -> String {
        InterceptorTests.describe(
            policy.decide(FailedAttempt(retryCount: count, method: method, status: status, errorCode: code)))
    }

    private static func delays(_ policy: RetryPolicy, _ count: Int) -> [Int] {
        (0..<count).map { policy.delay(FailedAttempt(retryCount: $0, method: "GET", status: 503)) }
    }

    @Test("RT-01: two retries")
    func limit() {
        #expect((0...3).map { Self.decide(RetryPolicy(), $0, status: 500) } == ["delay(500)", "delay(1000)"] + none(2))
        var policy = RetryPolicy()
        policy.limit = 0
        #expect(Self.decide(policy, status: 500) == "doNotRetry")
    }

    private func none(_ count: Int) -> [String] { Array(repeating: "doNotRetry", count: count) }

    @Test("RT-02, RT-03, RT-04: base ^ retries * scale")
    func backOff() throws {
        #expect(Self.delays(RetryPolicy(), 5) == [500, 1_000, 2_000, 4_000, 8_000])
        #expect(RetryPolicy(base: 1) == nil)
        #expect(RetryPolicy(base: -3) == nil)
        var policy = try #require(RetryPolicy(base: 3))
        policy.scaleMilliseconds = 100
        #expect(Self.delays(policy, 4) == [100, 300, 900, 2_700])
        policy.scaleMilliseconds = 0
        #expect(Self.delays(policy, 3) == [0, 0, 0])
        policy.scaleMilliseconds = -1
        #expect(Self.delays(policy, 2) == [0, 0])
    }

    @Test("The delay saturates with any base, scale and count")
    func saturation() throws {
        for (base, scale, count) in [(2, 500, 10_000), (Int.max, 1, 2), (2, Int.max, 0), (1_000, 2, .max)] {
            var policy = try #require(RetryPolicy(base: base))
            policy.scaleMilliseconds = scale
            let delay = policy.delay(FailedAttempt(retryCount: count, method: "GET"))
            #expect(delay == RetryPolicy.longestDelayMilliseconds)
        }
    }

    @Test(
        "RT-05: only idempotent methods", arguments: ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"])
    func methods(_ method: String) {
        #expect(Self.decide(method: method, status: 500) == "delay(500)")
        #expect(Self.decide(method: method.lowercased(), status: 500) == "doNotRetry")
    }

    @Test("RT-05, RT-08: others are not retried, though the status is listed")
    func otherMethods() {
        for method in ["POST", "PATCH", "CONNECT", "QUERY"] {
            #expect(Self.decide(method: method, status: 503, code: -1_005) == "doNotRetry")
        }
        var policy = RetryPolicy()
        policy.methods = ["POST"]
        #expect(Self.decide(policy, method: "POST", status: 500) == "delay(500)")
        #expect(Self.decide(policy, method: "GET", status: 500) == "doNotRetry")
    }

    @Test("RT-06: five statuses of all")
    func statuses() {
        let retried = (100...999).filter { Self.decide(status: $0) != "doNotRetry" }
        #expect(retried == [408, 500, 502, 503, 504])
    }

    @Test("RT-07, Appendix C: eighteen of forty-eight URL errors")
    func codes() {
        let numbers = URLErrorCode.names.compactMap(URLErrorCode.number)
        #expect(numbers.count == 48)
        #expect(Set(numbers).count == 48)
        #expect(numbers.allSatisfy { URLErrorCode.name($0).flatMap(URLErrorCode.number) == $0 })
        let retried = numbers.filter { Self.decide(code: $0) != "doNotRetry" }
        #expect(retried.count == 18)
        #expect(Set(retried) == RetryPolicy.transientCodes)
        let names = retried.compactMap(URLErrorCode.name)
        for name in ["timed_out", "cannot_find_host", "cannot_connect_to_host", "network_connection_lost"] {
            #expect(names.contains(name))
        }
        #expect(URLErrorCode.name(-4) == nil)
        #expect(URLErrorCode.number("nonsense") == nil)
    }

    @Test("Every failure of the transport has its number")
    func transportCodes() {
        let codes: [TransportError.Code] = [
            .cancelled, .badURL, .unsupportedURL, .timedOut, .cannotFindHost, .cannotConnectToHost,
            .networkConnectionLost, .notConnectedToInternet, .badServerResponse, .cannotParseResponse,
            .cannotDecodeContentData, .dataLengthExceedsMaximum, .secureConnectionFailed, .serverCertificateUntrusted,
            .serverCertificateHasBadDate, .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot,
            .clientCertificateRejected, .requestBodyStreamExhausted, .resourceUnavailable, .unknown,
        ]
        for code in codes {
            let error = SessionError.sessionTaskFailed(TransportError(code, "no"))
            #expect(error.urlErrorCode == URLErrorCode.number(code.rawValue))
            #expect(error.urlErrorCode != nil)
        }
        #expect(SessionError.tooManyRedirects(3).urlErrorCode == -1_007)
        #expect(SessionError.explicitlyCancelled.urlErrorCode == nil)
    }

    @Test("RT-08: without a listed status the error decides; either is sufficient")
    func statusThenError() {
        #expect(Self.decide(status: 200, code: -1_005) == "delay(500)")
        #expect(Self.decide(status: 404, code: -1_000) == "doNotRetry")
        #expect(Self.decide(status: 503, code: -1_000) == "delay(500)")
        #expect(Self.decide() == "doNotRetry")
    }

    @Test("RT-08, RT-10: the error may be wrapped once, and the status is the last response's after any failure")
    func attempts() throws {
        let stage = try Stage()
        let lost = SessionError.sessionTaskFailed(TransportError(.networkConnectionLost, "gone"))
        let wrapped = SessionError("request_adaptation_failed", "no", details: [.init("underlying", .error(lost))])
        let twice = SessionError("request_adaptation_failed", "no", details: [.init("underlying", .error(wrapped))])
        let parsing = SessionError("response_serialization_failed.json_serialization_failed", "no JSON")
        let request = stage.send()
        func decide(_ error: SessionError) -> String {
            var result = ""
            PolicyRetrier(RetryPolicy()).retry(request, dueTo: error) { result = InterceptorTests.describe($0) }
            return result
        }
        #expect([lost, wrapped, twice, parsing].map(decide) == ["delay(500)", "delay(500)"] + none(2))
        stage.transport.receive(503)
        #expect(decide(parsing) == "delay(500)")
    }

    @Test("RT-11: only a lost connection, with the same limits, methods and delays")
    func connectionLost() throws {
        let policy = try #require(RetryPolicy.connectionLost())
        #expect(Self.decide(policy, code: -1_005) == "delay(500)")
        #expect(Self.decide(policy, 2, code: -1_005) == "doNotRetry")
        #expect(Self.decide(policy, method: "POST", code: -1_005) == "doNotRetry")
        #expect(Self.decide(policy, status: 503) == "doNotRetry")
        #expect(Self.decide(policy, code: -1_001) == "doNotRetry")
        #expect(RetryPolicy.connectionLost(base: 1) == nil)
    }

    @Test("F-24: off by default, Retry-After is the least delay and max_delay_ms the most")
    func retryAfter() {
        var attempt = FailedAttempt(retryCount: 0, method: "GET", status: 503, retryAfter: "3")
        attempt.now = 784_111_777
        var policy = RetryPolicy()
        #expect(policy.delay(attempt) == 500)
        policy.respectsRetryAfter = true
        #expect(policy.delay(attempt) == 3_000)
        attempt.retryAfter = "Sun, 06 Nov 1994 08:49:47 GMT"
        #expect(policy.delay(attempt) == 10_000)
        attempt.retryAfter = "Sun, 06 Nov 1994 08:49:27 GMT"
        #expect(policy.delay(attempt) == 500)
        attempt.retryAfter = "soon"
        #expect(policy.delay(attempt) == 500)
        attempt.retryAfter = "99999999999999999999"
        #expect(policy.delay(attempt) == RetryPolicy.longestDelayMilliseconds)
        policy.maximumDelayMilliseconds = 2_000
        #expect(policy.delay(attempt) == 2_000)
        attempt.retryAfter = nil
        attempt.retryCount = 9
        #expect(policy.delay(attempt) == 2_000)
    }

    @Test("F-24: jitter shortens the back-off, never Retry-After")
    func jitter() {
        var policy = RetryPolicy()
        policy.jitter = 0.5
        var attempt = FailedAttempt(retryCount: 1, method: "GET", status: 503)
        #expect(policy.delay(attempt) == 1_000)
        attempt.chance = 0.5
        #expect(policy.delay(attempt) == 750)
        policy.jitter = 1
        attempt.chance = 0.999
        #expect(policy.delay(attempt) <= 1)
        policy.respectsRetryAfter = true
        attempt.retryAfter = "2"
        #expect(policy.delay(attempt) == 2_000)
        for odd in [Double.nan, .infinity, -1, 7] {
            policy.jitter = odd
            #expect((2_000...2_000).contains(policy.delay(attempt)))
        }
    }

    @Test("F-01: a policy can make its statuses failures")
    func withoutValidation() {
        var policy = RetryPolicy()
        #expect(policy.statusesWithoutValidation == [])
        policy.retriesWithoutValidation = true
        #expect(policy.statusesWithoutValidation == RetryPolicy.transientStatuses)
    }

    @Test(
        "RFC 9110, section 5.6.7: the three forms of a date",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200), ("Wednesday, 01-Jan-25 00:00:00 GMT", 1_735_689_600),
            ("", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 32 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nox 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 24:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49 GMT", nil), ("Sun, 06 Nov +994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", nil), ("a b c d e", nil),
        ] as [(String, Int64?)])
    func dates(_ text: String, _ seconds: Int64?) {
        #expect(HTTPDate.seconds(text, now: 1_700_000_000) == seconds)
    }
}
