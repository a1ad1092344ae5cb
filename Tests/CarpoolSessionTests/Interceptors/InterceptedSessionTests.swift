import CarpoolHTTP
@testable import CarpoolSession
import CarpoolSystem
import Testing

/// Interceptors in a session, from the request to the origin and the token endpoint.
struct InterceptedSessionTests {
    private static func stage(
        expires: Int64?, behind others: [any RequestInterceptor] = [], token: String = "v1"
    ) throws -> (Stage, AuthenticationInterceptor) {
        let refresher = TokenEndpointRefresher(
            url: "http://auth.test/token", client: .init(identifier: "me"), makeRequestID: { "r_token" },
            wallClock: { 0 })
        let authentication = AuthenticationInterceptor(
            authenticator: OAuth2Authenticator(refresher: refresher) { 0 },
            credential: OAuth2Credential(accessToken: token, refreshToken: "r", expires: expires),
            scheduler: ManualScheduler())
        var configuration = SessionConfiguration()
        configuration.interceptor = Interceptor(interceptors: [authentication] + others)
        configuration.validators = [StatusValidator.successful]
        return (try Stage(configuration), authentication)
    }

    private static func sent(_ stage: Stage) -> [String] {
        stage.transport.requests.map { request in
            let field = request.fields.first { $0.hasName("authorization") }
            return "\(request.method.rawValue) \(request.url.description) \(field?.value ?? "-")"
        }
    }

    @Test("AI-03, AI-04, F-12: many requests, one refresh, which bypasses the interceptor that waits for it")
    func proactive() throws {
        let (stage, authentication) = try Self.stage(expires: 0)
        let requests = (0..<3).map { _ in stage.send() }
        #expect(Self.sent(stage) == ["POST http://auth.test/token -"])
        stage.transport.respond(200, body: #"{"access_token":"v2","expires_in":3600}"#)
        #expect(Self.sent(stage).dropFirst() == Array(repeating: "GET http://a.test/ Bearer v2", count: 3)[...])
        stage.transport.respond(200)
        #expect(requests[2].error == nil && requests[2].isFinished)
        #expect(authentication.credential?.refreshToken == "r")
    }

    @Test("AI-09, AI-10: a refused request is retried with the new credential")
    func reactive() throws {
        let (stage, _) = try Self.stage(expires: nil)
        let request = stage.send()
        stage.transport.respond(401)
        #expect(Self.sent(stage).last == "POST http://auth.test/token -")
        stage.transport.respond(200, body: #"{"access_token":"v2"}"#)
        stage.scheduler.advance(milliseconds: 0)
        #expect(Self.sent(stage).last == "GET http://a.test/ Bearer v2")
        stage.transport.respond(200)
        #expect(request.error == nil && request.retryCount == 1)
    }

    @Test("AI-11: a refused refresh is reported with the refusal of the request, without secrets")
    func refused() throws {
        let (stage, _) = try Self.stage(expires: nil)
        let request = stage.send()
        stage.transport.respond(401)
        stage.transport.respond(400, body: #"{"error":"invalid_grant"}"#)
        let error = try #require(request.error)
        #expect(error.name == "request_retry_failed")
        #expect(error.cause("retry_error")?.name == "authentication_error.refresh_failed")
        #expect(error.cause("original_error")?.name == "response_validation_failed.unacceptable_status_code")
        #expect(stage.transport.requests.count == 2 && request.retryCount == 0)
    }

    @Test("AI-02: without a credential the adaptation fails, and nothing is sent")
    func missing() throws {
        let (stage, authentication) = try Self.stage(expires: nil)
        authentication.setCredential(nil)
        let error = try #require(stage.send().error)
        #expect(error.name == "request_adaptation_failed")
        #expect(error.cause("underlying")?.name == "authentication_error.missing_credential")
        #expect(stage.transport.requests.isEmpty)
    }

    @Test("A request that is cancelled while it waits ends at once; the credential of the refresh is kept")
    func cancelled() throws {
        let (stage, authentication) = try Self.stage(expires: 0)
        let request = stage.send()
        request.cancel()
        #expect(request.isFinished)
        stage.transport.respond(200, body: #"{"access_token":"v2"}"#)
        #expect(authentication.credential?.accessToken == "v2")
        #expect(stage.transport.requests.count == 1)
    }

    @Test("F-12: a credential that a later interceptor replaces is not retried endlessly")
    func overwritten() throws {
        let other = try #require(SetHeaderAdapter.bearer(token: "other"))
        let (stage, _) = try Self.stage(expires: nil, behind: [other])
        let request = stage.send()
        for _ in 0..<100 where !request.isFinished {
            stage.transport.respond(401)
            stage.scheduler.advance(milliseconds: 0)
        }
        #expect(request.retryCount == AuthenticationInterceptor.maximumStaleRetries)
        #expect(request.error?.name == "response_validation_failed.unacceptable_status_code")
        #expect(Set(Self.sent(stage)) == ["GET http://a.test/ Bearer other"])
    }

    @Test(
        "F-01, RT-04, RT-09: without validation a policy's statuses are failures only if it is set to",
        arguments: [true, false])
    func withoutValidation(_ isWanted: Bool) throws {
        var policy = RetryPolicy()
        policy.retriesWithoutValidation = isWanted
        var configuration = SessionConfiguration()
        configuration.interceptor = Interceptor(interceptors: [PolicyRetrier(policy)])
        let stage = try Stage(configuration)
        let request = stage.send()
        stage.transport.respond(503)
        guard isWanted else {
            #expect(request.isFinished && request.error == nil)
            return
        }
        stage.scheduler.advance(milliseconds: 499)
        #expect(stage.transport.requests.count == 1)
        stage.scheduler.advance(milliseconds: 1)
        stage.transport.respond(503)
        stage.scheduler.advance(milliseconds: 999)
        #expect(stage.transport.requests.count == 2)
        stage.scheduler.advance(milliseconds: 1)
        stage.transport.respond(200)
        #expect(request.isFinished && request.error == nil && request.retryCount == 2)
    }

    @Test("F-24: Retry-After delays the retry")
    func retryAfter() throws {
        var policy = RetryPolicy()
        policy.respectsRetryAfter = true
        policy.retriesWithoutValidation = true
        var configuration = SessionConfiguration()
        configuration.interceptor = Interceptor(interceptors: [PolicyRetrier(policy)])
        let stage = try Stage(configuration)
        let request = stage.send()
        stage.transport.respond(503, [("Retry-After", "7")])
        stage.scheduler.advance(milliseconds: 6_999)
        #expect(stage.transport.requests.count == 1)
        stage.scheduler.advance(milliseconds: 1)
        stage.transport.respond(200)
        #expect(request.retryCount == 1)
    }
}
