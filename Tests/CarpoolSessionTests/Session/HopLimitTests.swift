import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// The most requests that servers can cause within one call.
struct HopLimitTests {
    private static func challenge(_ number: Int) -> [(String, String)] {
        [("WWW-Authenticate", #"Digest realm="r", qop="auth", nonce="\#(number)""#)]
    }

    private static func send(_ stage: Stage, maximumRedirects: Int = 16, retries: Int? = nil) -> Request {
        stage.send {
            $0.credential = PasswordCredential(user: "u", password: "p")
            $0.redirect = .follow
            $0.redirect?.maximumHops = maximumRedirects
            guard let retries else { return }
            var policy = RetryPolicy()
            policy.limit = retries
            policy.scaleMilliseconds = 0
            policy.retriesWithoutValidation = true
            $0.interceptor = PolicyRetrier(policy)
        }
    }

    /// Challenges every request once, and redirects its repetition. Returns how many requests there were.
    private static func challengeAndRedirect(_ stage: Stage, _ request: Request, times: Int = 1_000) -> Int {
        let first = stage.transport.requests.count
        for number in 0..<times where !request.isFinished {
            if number.isMultiple(of: 2) {
                stage.transport.respond(401, challenge(number))
            } else {
                stage.transport.respond(302, [("Location", "/\(number)")])
            }
        }
        return stage.transport.requests.count - first + 1
    }

    @Test("A redirect behind each challenge: sixteen challenges are answered, and the next one fails the request")
    func sum() throws {
        let stage = try Stage()
        let request = Self.send(stage, maximumRedirects: 64)
        #expect(Self.challengeAndRedirect(stage, request) == 33)
        #expect(request.error?.name == "session_task_failed.too_many_challenges")
        #expect(request.error?.isRetryable == false && request.response?.status == 401)
        #expect(request.isFinished && request.attempts.count == 1 && request.attempts[0].hops.count == 33)
        #expect(stage.session.tasks.count == 0)
    }

    @Test("Sixteen redirects with a challenge at each URL that redirects are no circle")
    func chain() throws {
        let stage = try Stage()
        let request = Self.send(stage)
        #expect(Self.challengeAndRedirect(stage, request, times: 32) == 33)
        stage.transport.respond(200, body: "in")
        #expect(request.error == nil && request.text == "in")
    }

    @Test("A repeat is no redirect: with the most redirects 2, two of them are followed")
    func repeatsAreNoRedirects() throws {
        let stage = try Stage()
        let request = stage.send {
            $0.method = .post
            $0.body = .bytes(Array("body".utf8))
            $0.expectsContinue = true
            $0.redirect = .follow
            $0.redirect?.maximumHops = 2
        }
        stage.transport.respond(417)
        for _ in 0..<2 { stage.transport.respond(307, [("Location", "/again")]) }
        stage.transport.respond(200)
        #expect(request.error == nil && request.attempts[0].hops.count == 4)
    }

    @Test("A retry that a policy decides has the whole maximum again")
    func policy() throws {
        let stage = try Stage()
        let request = Self.send(stage, retries: 2)
        for _ in 0..<3 {
            _ = Self.challengeAndRedirect(stage, request, times: 32)
            stage.transport.respond(503)
            stage.scheduler.advance(milliseconds: 0)
        }
        #expect(request.error?.name == "response_validation_failed.unacceptable_status_code")
        #expect(request.retryCount == 2 && stage.transport.requests.count == 3 * 33)
    }

    @Test("A refresh and the request with its credential count, and no policy retries the end")
    func refreshes() throws {
        let refresher = TokenEndpointRefresher(
            url: "http://auth.test/token", client: .init(identifier: "me"), makeRequestID: { "r_token" },
            wallClock: { 0 })
        let authentication = AuthenticationInterceptor(
            authenticator: OAuth2Authenticator(refresher: refresher) { 0 },
            credential: OAuth2Credential(accessToken: "v1", refreshToken: "r", expires: nil), window: nil,
            scheduler: ManualScheduler())
        var configuration = SessionConfiguration()
        configuration.interceptor = Interceptor(interceptors: [authentication, PolicyRetrier(RetryPolicy())])
        configuration.validators = [StatusValidator.successful]
        let stage = try Stage(configuration)
        let request = stage.send()
        for number in 0..<100 where !request.isFinished {
            stage.transport.respond(401)
            stage.transport.respond(200, body: #"{"access_token":"n\#(number)"}"#)
            stage.scheduler.advance(milliseconds: 0)
        }
        #expect(request.error?.name == "request_retry_failed")
        #expect(request.error?.cause("retry_error")?.name == "session_task_failed.too_many_hops")
        #expect(stage.transport.requests.count == 40)
    }
}
