import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct TokenEndpointRefresherTests {
    private let stage: Stage
    private static let old = OAuth2Credential(accessToken: "old-token", refreshToken: "a b&c")

    init() throws { stage = try Stage() }

    /// The result of an answer.
    private func refresh(
        _ credential: OAuth2Credential = old, client: TokenEndpointRefresher.Client = .init(), _ answer: () -> Void
    ) throws -> Result<OAuth2Credential, SessionError> {
        let refresher = TokenEndpointRefresher(
            url: "https://auth.test/token", client: client,
            fields: [try HTTPField(name: "X-Tenant", value: "7")], makeRequestID: { "r_token" },
            wallClock: { 1_000_000 })
        var results: [Result<OAuth2Credential, SessionError>] = []
        refresher.refresh(credential, for: stage.session) { results.append($0) }
        answer()
        #expect(results.count == 1)
        return try #require(results.first)
    }

    private func failure(_ status: Int, _ body: String) throws -> SessionError {
        try #require(throws: SessionError.self) { try refresh { stage.transport.respond(status, body: body) }.get() }
    }

    @Test("RFC 6749, section 6: what is sent")
    func sent() throws {
        let client = TokenEndpointRefresher.Client(identifier: "me", secret: "p\u{e9}ss=", scope: "a b")
        let result = try refresh(client: client) {
            stage.transport.respond(200, body: #"{"access_token":"new"}"#)
        }
        #expect(try result.get() == OAuth2Credential(accessToken: "new", refreshToken: "a b&c"))
        let sent = try #require(stage.transport.requests.first)
        #expect(sent.method == .post)
        #expect(sent.url.description == "https://auth.test/token")
        let fields = sent.fields.map { "\($0.name): \($0.value)" }
        #expect(fields.contains("Content-Type: application/x-www-form-urlencoded"))
        #expect(fields.contains("Accept: application/json"))
        #expect(fields.contains("X-Tenant: 7"))
        guard case .bytes(let body) = sent.body else { return #expect(Bool(false)) }
        #expect(
            String(decoding: body, as: UTF8.self)
                == "grant_type=refresh_token&refresh_token=a%20b%26c&client_id=me&client_secret=p%C3%A9ss%3D&scope=a%20b"
        )
        #expect(sent.resourceTimeoutMilliseconds == 30_000)
    }

    @Test(
        "RFC 6749, section 5.1: what comes back",
        arguments: [
            (#"{"access_token":"n"}"#, OAuth2Credential(accessToken: "n", refreshToken: "a b&c")),
            (
                #"{"access_token":"n","token_type":"bearer","expires_in":60,"refresh_token":"r","more":[1]}"#,
                OAuth2Credential(accessToken: "n", refreshToken: "r", expires: 61_000_000)
            ),
            (
                #"{"access_token":"n","expires_in":"1.5"}"#,
                OAuth2Credential(accessToken: "n", refreshToken: "a b&c", expires: 2_500_000)
            ),
            (
                #"{"access_token":"n","expires_in":-5}"#,
                OAuth2Credential(accessToken: "n", refreshToken: "a b&c", expires: 1_000_000)
            ),
            (
                #"{"access_token":"n","expires_in":1e300}"#,
                OAuth2Credential(accessToken: "n", refreshToken: "a b&c", expires: 3_155_760_001_000_000)
            ),
            (#"{"access_token":"n","expires_in":"soon"}"#, OAuth2Credential(accessToken: "n", refreshToken: "a b&c")),
        ])
    func answers(_ body: String, _ credential: OAuth2Credential) throws {
        #expect(try refresh { stage.transport.respond(200, body: body) }.get() == credential)
    }

    @Test(
        "Answers without a token are failures",
        arguments: [
            "", "no JSON", "[]", "{}", #"{"access_token":""}"#, #"{"access_token":7}"#,
            #"{"access_token":"n","token_type":"mac"}"#,
        ])
    func noToken(_ body: String) throws {
        #expect(try failure(200, body).name == "authentication_error.refresh_failed")
    }

    @Test("A token that cannot be sent is refused")
    func badToken() throws {
        #expect(try failure(200, #"{"access_token":"a\nb"}"#).name == "authentication_error.unusable_credential")
    }

    @Test("RFC 6749, section 5.2: refusals keep the server's texts, without secrets")
    func refusals() throws {
        let error = try failure(400, #"{"error":"invalid_grant","error_description":"too old\n"}"#)
        #expect(error.name == "authentication_error.refresh_failed")
        #expect(error.message == "the token endpoint returned an error: invalid_grant: too old?")
        #expect(error.details.map(\.name) == ["code", "error", "error_description"])
        let echo = try failure(401, #"{"error":"invalid_grant","error_description":"unknown: a b&c"}"#)
        #expect(!"\(echo) \(echo.details)".contains("a b&c"))
        #expect(try failure(503, "<html>").message == "the token endpoint returned status 503")
        #expect(try failure(302, "").name == "authentication_error.refresh_failed")
        #expect(stage.transport.requests.count == 4)
    }

    @Test("A failed transfer keeps its error, so that a policy may retry; at most 64 KiB are read")
    func transfers() throws {
        let lost = try #require(throws: SessionError.self) {
            try refresh { stage.transport.complete(TransportError(.networkConnectionLost, "gone")) }.get()
        }
        #expect(lost.urlErrorCode == -1_005)
        #expect(lost.underlying?.name == "session_task_failed.network_connection_lost")
        let large = try failure(200, String(repeating: " ", count: 65_537))
        #expect(large.message.contains("65536"))
        #expect(stage.spool.files.map { $0.isDiscarded } == [true])
    }

    @Test("Without a refresh token no request is sent")
    func noRefreshToken() throws {
        let result = try refresh(OAuth2Credential(accessToken: "a")) {}
        #expect((try? result.get()) == nil)
        #expect(stage.transport.requests.isEmpty)
    }
}
