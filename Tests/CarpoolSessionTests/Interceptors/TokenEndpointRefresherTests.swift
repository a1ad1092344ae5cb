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
            (#"{"access_token":"n","expires_in":null}"#, OAuth2Credential(accessToken: "n", refreshToken: "a b&c")),
            (
                #"{"access_token":"n","token_type":"BEARER","expires_in":"3600"}"#,
                OAuth2Credential(accessToken: "n", refreshToken: "a b&c", expires: 3_601_000_000)
            ),
            (#"{"access_token":"n","expires_in":"inf"}"#, OAuth2Credential(accessToken: "n", refreshToken: "a b&c")),
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

    /// What a client sends to obtain its first credential: the form, and `Authorization`.
    private func obtaining(_ client: TokenEndpointRefresher.Client) throws -> (form: String, authorization: String?) {
        let refresher = TokenEndpointRefresher(url: "https://auth.test/token", client: client, makeRequestID: { "r" })
        #expect(refresher.obtainsCredentials)
        var result: Result<OAuth2Credential, SessionError>?
        refresher.obtain(for: stage.session) { result = $0 }
        stage.transport.respond(200, body: #"{"access_token":"new","expires_in":60}"#)
        #expect(try result?.get().accessToken == "new")
        let sent = try #require(stage.transport.requests.last)
        guard case .bytes(let body) = sent.body else { return ("", nil) }
        return (String(decoding: body, as: UTF8.self), sent.fields.first { $0.isNamed("authorization") }?.value)
    }

    @Test("RFC 6749, sections 2.3.1, 4.3 and 4.4: what the other grants send")
    func grants() throws {
        var client = TokenEndpointRefresher.Client(
            identifier: "a:b", secret: "s&\u{e9}", scope: "x y", grant: .clientCredentials, authentication: .basic,
            parameters: [.init("audience", "https://a.test/"), .init("resource", "1"), .init("resource", "2")])
        let basic = try obtaining(client)
        let parameters = "scope=x%20y&audience=https%3A%2F%2Fa.test%2F&resource=1&resource=2"
        #expect(basic.form == "grant_type=client_credentials&\(parameters)")
        #expect(basic.authorization == "Basic \(BasicCredential.token(user: "a%3Ab", password: "s%26%C3%A9"))")
        client.authentication = .body
        let body = try obtaining(client)
        #expect(
            body.form
                == "grant_type=client_credentials&client_id=a%3Ab&client_secret=s%26%C3%A9&\(parameters)")
        #expect(body.authorization == nil)
        let user = TokenEndpointRefresher.Client(
            identifier: "app", grant: .password(username: "ada", password: "p w"), authentication: .basic)
        let password = try obtaining(user)
        #expect(password.form == "grant_type=password&username=ada&password=p%20w&client_id=app")
        #expect(password.authorization == nil, "a client without a secret is named in the form")
    }

    @Test("No error of an endpoint shows what it was sent, in no encoding")
    func echoes() throws {
        let client = TokenEndpointRefresher.Client(
            identifier: "app", secret: "s&cret", grant: .password(username: "ada", password: "p w"),
            authentication: .basic, parameters: [.init("client_assertion", "signed")])
        let basic = BasicCredential.token(user: "app", password: "s%26cret")
        for text in ["s&cret", "s%26cret", "p w", "p%20w", "signed", basic] {
            let error = try #require(throws: SessionError.self) {
                try refresh(client: client) {
                    stage.transport.respond(401, body: #"{"error":"invalid_client","error_description":"<\#(text)>"}"#)
                }.get()
            }
            #expect(error.message.contains("invalid_client"))
            #expect(!"\(error) \(error.details)".contains(text))
        }
    }

    @Test("Without a refresh token no request is sent")
    func noRefreshToken() throws {
        let result = try refresh(OAuth2Credential(accessToken: "a")) {}
        #expect((try? result.get()) == nil)
        #expect(stage.transport.requests.isEmpty)
    }
}
