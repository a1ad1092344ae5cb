import CarpoolHTTP
@testable import CarpoolSession
import CarpoolSystem
import Testing

struct AuthenticationInterceptorTests {
    /// An interceptor over a scripted refresher, and requests that it handles.
    private final class Scene {
        let stage: Stage
        let refresher = ScriptedRefresher()
        let scheduler = ManualScheduler()
        let interceptor: AuthenticationInterceptor
        /// The wall clock, in microseconds.
        var clock: Int64 { Int64(scheduler.now.nanoseconds / 1_000) }
        /// The answers, in order.
        private(set) var answers: [String] = []

        init(
            _ token: String? = "v1", expiresInMilliseconds: Int? = nil, window: RefreshWindow? = RefreshWindow(),
            obtains: Bool = false
        ) throws {
            stage = try Stage()
            refresher.obtainsCredentials = obtains
            let scheduler = scheduler
            let authenticator = OAuth2Authenticator(refresher: refresher) {
                Int64(scheduler.now.nanoseconds / 1_000)
            }
            let expires = expiresInMilliseconds.map { Int64(scheduler.now.nanoseconds / 1_000) + Int64($0) * 1_000 }
            interceptor = AuthenticationInterceptor(
                authenticator: authenticator,
                credential: token.map { OAuth2Credential(accessToken: $0, refreshToken: "r", expires: expires) },
                window: window, scheduler: scheduler)
        }

        func take() -> [String] {
            defer { answers = [] }
            return answers
        }

        func adapt(_ name: String = "a") throws {
            let request = stage.request(RequestParameters(url: "http://a.test/"))
            let urlRequest = TransportRequest(method: .get, url: try HTTPURL("http://a.test/"))
            interceptor.adapt(urlRequest, for: request) { [self] result in
                switch result {
                case .success(let adapted): answers.append("\(name) \(adapted.fields.map(\.value).joined())")
                case .failure(let error): answers.append("\(name) \(error.name)")
                }
            }
        }

        /// A request that was sent with a token and has a response with a status.
        func retry(_ name: String = "r", token: String = "v1", status: Int? = 401) throws {
            let field = try HTTPField(name: "Authorization", value: "Bearer \(token)")
            let request = stage.send { $0.fields = [field] }
            if let status { stage.transport.receive(status) }
            interceptor.retry(request, dueTo: SessionError("test.status", "no")) { [self] result in
                answers.append("\(name) \(InterceptorTests.describe(result))")
            }
        }
    }

    private static let fiveMinutes = 300_000

    @Test("AI-02: without a credential nothing is sent")
    func missingCredential() throws {
        let scene = try Scene(nil)
        try scene.adapt()
        try scene.retry()
        #expect(
            scene.take() == [
                "a authentication_error.missing_credential", "r error(authentication_error.missing_credential)",
            ])
        #expect(scene.refresher.asked.isEmpty)
    }

    @Test("Where credentials are obtained, requests wait for the first one, and a failure ends them alone")
    func firstCredential() throws {
        let scene = try Scene(nil, obtains: true)
        for name in ["a", "b"] { try scene.adapt(name) }
        #expect(scene.refresher.obtained == 1)
        scene.refresher.fail()
        #expect(scene.take() == ["a refresh.failed", "b refresh.failed"])
        try scene.adapt("c")
        scene.refresher.answer("v1")
        #expect(scene.take() == ["c Bearer v1"])
        #expect(scene.refresher.obtained == 2)
        #expect(scene.refresher.asked.isEmpty)
    }

    @Test("AI-12: where credentials are obtained, the window counts those that replace refused ones alone")
    func windowOfRefusals() throws {
        let scene = try Scene(nil, window: RefreshWindow(maximumAttempts: 1), obtains: true)
        for _ in 0..<3 {
            try scene.adapt()
            scene.refresher.fail()
        }
        try scene.adapt()
        scene.refresher.answer("v1")
        #expect(scene.take() == Array(repeating: "a refresh.failed", count: 3) + ["a Bearer v1"])
        try scene.retry()
        scene.refresher.answer("v2")
        #expect(scene.take() == ["r retry"])
        try scene.retry(token: "v2")
        #expect(scene.take() == ["r error(authentication_error.excessive_refresh)"])
    }

    @Test("A refusal is a failure without a validator only where the credential was obtained")
    func failsByItself() throws {
        for obtains in [true, false] {
            let scene = try Scene(obtains: obtains)
            let field = try HTTPField(name: "Authorization", value: "Bearer v1")
            let request = scene.stage.send { $0.fields = [field] }
            scene.stage.transport.receive(401)
            #expect(scene.interceptor.replacesCredential(of: request) == obtains)
        }
    }

    @Test("AI-03, AI-04: adaptations with an old credential wait for one refresh")
    func proactive() throws {
        let scene = try Scene(expiresInMilliseconds: Self.fiveMinutes - 1)
        for name in ["a", "b", "c"] { try scene.adapt(name) }
        #expect(scene.take() == [])
        #expect(scene.refresher.asked.map(\.accessToken) == ["v1"])
        scene.refresher.answer("v2")
        #expect(scene.take() == ["a Bearer v2", "b Bearer v2", "c Bearer v2"])
        try scene.adapt()
        #expect(scene.take() == ["a Bearer v2"])
        #expect(scene.refresher.asked.count == 1)
        #expect(scene.scheduler.count == 0)
    }

    @Test("AI-14: less than five minutes of validity are too few; no end is none")
    func validity() throws {
        for (milliseconds, refreshes) in [(Self.fiveMinutes - 1, 1), (Self.fiveMinutes, 0), (0, 1)] {
            let scene = try Scene(expiresInMilliseconds: milliseconds)
            try scene.adapt()
            #expect(scene.refresher.asked.count == refreshes)
        }
        let scene = try Scene()
        try scene.adapt()
        #expect(scene.take() == ["a Bearer v1"])
        let endless = OAuth2Authenticator(refresher: scene.refresher, refreshBeforeMilliseconds: .max)
        #expect(endless.requiresRefresh(OAuth2Credential(accessToken: "a", expires: .max)))
    }

    @Test("A new credential that is short-lived is used all the same, and does not refresh endlessly")
    func shortLived() throws {
        let scene = try Scene(expiresInMilliseconds: 0, window: nil)
        scene.refresher.atOnce = { _ in .success(OAuth2Credential(accessToken: "v2", expires: 0)) }
        try scene.adapt()
        #expect(scene.take() == ["a Bearer v2"])
        #expect(scene.refresher.asked.count == 1)
    }

    @Test("AI-05: while a refused request refreshes, others are sent with the old credential")
    func adaptDuringRetry() throws {
        let scene = try Scene(expiresInMilliseconds: Self.fiveMinutes)
        try scene.retry()
        try scene.adapt("a")
        scene.scheduler.advance(milliseconds: 1)
        try scene.adapt("b")
        #expect(scene.take() == ["a Bearer v1", "b Bearer v1"])
        scene.refresher.answer("v2")
        #expect(scene.take() == ["r retry"])
    }

    @Test(
        "AI-06, AI-09, AI-11: a failed refresh fails all waiting requests, and later ones with that credential until one is adapted"
    )
    func failedRefresh() throws {
        let scene = try Scene()
        try scene.retry("r1")
        try scene.retry("r2")
        scene.refresher.fail()
        try scene.retry("r3")
        #expect(scene.take() == ["r1", "r2", "r3"].map { "\($0) error(refresh.failed)" })
        #expect(scene.refresher.asked.count == 1)
        try scene.adapt()
        try scene.retry("r4")
        #expect(scene.refresher.asked.count == 2)
        scene.refresher.answer("v2")
        #expect(scene.take() == ["a Bearer v1", "r4 retry"])
    }

    @Test("AI-11: adaptations fail with the refresh")
    func failedAdaptation() throws {
        let scene = try Scene(expiresInMilliseconds: 0)
        try scene.adapt("a")
        try scene.retry("r")
        scene.refresher.fail()
        #expect(scene.take() == ["a refresh.failed", "r error(refresh.failed)"])
        try scene.adapt()
        #expect(scene.refresher.asked.count == 2)
    }

    @Test("AI-07: it ignores requests without a response, and failures other than 401")
    func otherFailures() throws {
        let scene = try Scene()
        try scene.retry(status: nil)
        try scene.retry(status: 500)
        try scene.retry(status: 403)
        #expect(scene.take() == Array(repeating: "r doNotRetry", count: 3))
        let unsent = scene.stage.request(RequestParameters(url: "http://a.test/"))
        var result = ""
        scene.interceptor.retry(unsent, dueTo: SessionError("test", "no")) { result = InterceptorTests.describe($0) }
        #expect(result == "doNotRetry")
        #expect(scene.refresher.asked.isEmpty)
    }

    @Test("AI-08: a request that was sent with an older credential is retried at once")
    func olderCredential() throws {
        let scene = try Scene("v2")
        try scene.retry(token: "v1")
        #expect(scene.take() == ["r retry"])
        #expect(scene.refresher.asked.isEmpty)
    }

    @Test("AI-09, AI-10, F-12: ten refused requests, one refresh")
    func together() throws {
        let scene = try Scene()
        for name in 0..<10 { try scene.retry("\(name)") }
        #expect(scene.refresher.asked.count == 1)
        scene.refresher.answer("v2")
        #expect(scene.take() == (0..<10).map { "\($0) retry" })
        #expect(scene.interceptor.credential?.accessToken == "v2")
    }

    @Test("AI-12: five refreshes in thirty seconds")
    func window() throws {
        let scene = try Scene()
        for attempt in 1...5 {
            try scene.retry(token: "v\(attempt)")
            scene.refresher.answer("v\(attempt + 1)")
        }
        #expect(scene.take() == Array(repeating: "r retry", count: 5))
        try scene.retry(token: "v6")
        #expect(scene.take() == ["r error(authentication_error.excessive_refresh)"])
        try scene.adapt()
        scene.scheduler.advance(milliseconds: 30_000)
        try scene.retry(token: "v6")
        #expect(scene.take() == ["a Bearer v6", "r error(authentication_error.excessive_refresh)"])
        try scene.adapt()
        scene.scheduler.advance(milliseconds: 1)
        try scene.retry(token: "v6")
        #expect(scene.refresher.asked.count == 6)
    }

    @Test("AI-12: without a window nothing is counted; a window of 0 allows none")
    func otherWindows() throws {
        let open = try Scene(window: nil)
        for attempt in 1...20 {
            try open.retry(token: "v\(attempt)")
            open.refresher.answer("v\(attempt + 1)")
        }
        #expect(open.refresher.asked.count == 20)
        let closed = try Scene(expiresInMilliseconds: 0, window: RefreshWindow(maximumAttempts: 0))
        try closed.adapt()
        #expect(closed.take() == ["a authentication_error.excessive_refresh"])
    }

    @Test("AI-13: a credential that is set ends a failure, and takes precedence over that of a refresh")
    func setCredential() throws {
        let scene = try Scene()
        try scene.retry("r1")
        scene.refresher.fail()
        scene.interceptor.setCredential(OAuth2Credential(accessToken: "v2"))
        try scene.retry("r2", token: "v2")
        #expect(scene.refresher.asked.count == 2)
        scene.interceptor.setCredential(OAuth2Credential(accessToken: "v3"))
        #expect(scene.take() == ["r1 error(refresh.failed)", "r2 retry"])
        scene.refresher.answer("dropped")
        #expect(scene.interceptor.credential?.accessToken == "v3")
        scene.interceptor.setCredential(nil)
        try scene.adapt()
        #expect(scene.take() == ["a authentication_error.missing_credential"])
    }

    @Test("AI-13: waiting requests use the credential that is set, and a second refresh waits for the end of the first")
    func setWhileWaiting() throws {
        let scene = try Scene(expiresInMilliseconds: 0)
        try scene.adapt("a")
        scene.interceptor.setCredential(OAuth2Credential(accessToken: "old", expires: 0))
        #expect(scene.take() == [])
        #expect(scene.refresher.asked.count == 1)
        scene.refresher.answer("dropped")
        #expect(scene.refresher.asked.map(\.accessToken) == ["v1", "old"])
        scene.refresher.answer("new")
        #expect(scene.take() == ["a Bearer new"])
        let other = try Scene(expiresInMilliseconds: 0)
        try other.adapt("a")
        try other.retry("r")
        other.interceptor.setCredential(nil)
        #expect(
            Set(other.take()) == [
                "a authentication_error.missing_credential", "r error(authentication_error.missing_credential)",
            ])
    }

    @Test("AI-13: a credential that is set applies to queued requests too", arguments: ["v3", nil])
    func setBetweenTurns(_ token: String?) throws {
        let scene = try Scene(expiresInMilliseconds: 0)
        for _ in 0..<6 { try scene.adapt() }
        scene.scheduler.holdsSlices = true
        scene.refresher.answer("v2")
        scene.interceptor.setCredential(token.map { OAuth2Credential(accessToken: $0) })
        scene.scheduler.runHeldSlices()
        let answer = token.map { "a Bearer \($0)" } ?? "a authentication_error.missing_credential"
        #expect(scene.take() == Array(repeating: answer, count: 6))
    }

    @Test("F-12: a refresh that times out fails the waiting requests; its late credential is kept")
    func deadline() throws {
        let scene = try Scene()
        try scene.retry()
        scene.scheduler.advance(milliseconds: 29_999)
        #expect(scene.take() == [])
        scene.scheduler.advance(milliseconds: 1)
        #expect(scene.take() == ["r error(authentication_error.refresh_timed_out)"])
        scene.refresher.answer("v2")
        #expect(scene.interceptor.credential?.accessToken == "v2")
        scene.refresher.answer("v3")
        #expect(scene.interceptor.credential?.accessToken == "v2")
        #expect(scene.take() == [])
    }

    @Test("Of a refresher that answers twice the first answer counts, and a refresher may answer at once")
    func refreshers() throws {
        let scene = try Scene()
        try scene.retry()
        scene.refresher.fail()
        scene.refresher.answer("v2")
        #expect(scene.interceptor.credential?.accessToken == "v1")
        #expect(scene.take() == ["r error(refresh.failed)"])
        scene.refresher.atOnce = { _ in .success(OAuth2Credential(accessToken: "v3")) }
        try scene.adapt()
        try scene.retry()
        #expect(scene.take() == ["a Bearer v1", "r retry"])
        #expect(scene.scheduler.count == 0)
    }

    @Test("A credential that cannot be sent fails the request, and no text shows a token")
    func secrets() throws {
        let scene = try Scene("no good")
        try scene.adapt()
        #expect(scene.take() == ["a authentication_error.unusable_credential"])
        let credential = OAuth2Credential(accessToken: "topsecret", refreshToken: "topsecret", expires: 7)
        var dumped = ""
        dump(credential, to: &dumped)
        for text in ["\(credential)", String(reflecting: credential), dumped, "\(Optional(credential) as Any)"] {
            #expect(!text.contains("topsecret"))
        }
    }
}
