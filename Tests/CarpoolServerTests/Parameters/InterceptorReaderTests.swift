import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

struct InterceptorReaderTests {
    /// Records what it is called with.
    private final class Callbacks: CallbackFactory {
        final class Part: RequestInterceptor, CredentialRefresher {
            func refresh(
                _ credential: OAuth2Credential, for session: Session,
                completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
            ) {}
        }
        var paths: [String] = []

        func interceptor(_ json: JSON, path: String) throws(RPCError) -> any RequestInterceptor {
            paths.append(path)
            return Part()
        }
        func challengeDecider(_ json: JSON, path: String) throws(RPCError) -> ChallengeDecider { throw .cancelled }
        func cachedResponseDecider(_ json: JSON, path: String) throws(RPCError) -> any CachedResponseDecider {
            throw .cancelled
        }
        func trustEvaluator(_ json: JSON, path: String) throws(RPCError) -> ServerTrustEvaluator { throw .cancelled }
        func refresher(_ json: JSON, path: String) throws(RPCError) -> any CredentialRefresher {
            paths.append(path)
            return Part()
        }
        func uploadable(_ json: JSON, mayOpenFiles: Bool, path: String) throws(RPCError) -> any Uploadable {
            throw .cancelled
        }
        func destinationDecider(
            _ json: JSON, options: DownloadOptions, path: String
        ) throws(RPCError) -> any DestinationDecider {
            throw unused
        }
        func redirectDecider(_ json: JSON, path: String) throws(RPCError) -> any RedirectDecider { throw unused }
        func validator(_ json: JSON, path: String) throws(RPCError) -> any ResponseValidator { throw unused }
        func serializer(_ json: JSON, path: String) throws(RPCError) -> any ResponseSerializer { throw unused }
        func preprocessor(_ json: JSON, path: String) throws(RPCError) -> any ResponsePreprocessor { throw unused }
        private let unused = RPCError.internalError("unused")
    }

    private let callbacks = Callbacks()
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    private func read(_ text: String) throws -> Interceptor? {
        let json = try JSON.parse(Array(text.utf8))
        do throws(JSONError) { try JSONSchema.interceptor.validate(json, path: "params.interceptor") } catch {
            throw RPCError.invalidParams(error)
        }
        let reader = InterceptorReader(
            callbacks: callbacks, scheduler: loop, connectivity: UnknownConnectivity(),
            tokens: try NoTokens(loop), uid: 1_000)
        return try reader.interceptor(json, path: "params.interceptor")
    }

    private func policy(_ name: String, _ options: String) throws -> RetryPolicy {
        let json = try JSON.parse(Array(options.utf8))
        let reader = RetryPolicyReader(path: "p")
        return name == "retry_policy" ? try reader.retryPolicy(json) : try reader.connectionLost(json)
    }

    @Test("Every element in every form is read; an empty list is none")
    func everything() throws {
        #expect(try read("[]") == nil)
        let all = try read(
            """
            ["retry_policy","connection_lost","compress",{"compress":{"format":"gzip"}},{"retry_policy":{}},{"connection_lost":{"limit":1}},
            {"set_header":{"name":"A","value":"b","mode":"if_absent"}},
            {"rewrite":{"scheme":"https","host":"[::1]","port":1,"path_prefix":"/v2","query":{"set":{"a":"b"}}}},
            {"basic_auth":{"username":"u","password":"p"}},{"bearer":{"token":"t"}},
            {"callback":{"name":"c","handles":["adapt"]}},
            {"oauth2":{"token_url":"http://a.test/","client_id":"i","client_secret":"s","scope":"x","headers":{"A":"b"},
            "credential":{"access_token":"a","refresh_token":"r","expires_in_ms":1},"refresh_before_ms":0,
            "window":{"interval_ms":1,"attempts":0},"refresh_timeout_ms":1}},
            "offline",{"offline":{"wait_ms":1,"codes":[-1009,"timed_out"],"methods":["GET"]}}]
            """)
        let credential = try #require(all?.authentication?.credential)
        #expect(credential.accessToken == "a" && credential.refreshToken == "r")
        let left = try #require(credential.expires) - WallClock.microseconds()
        #expect(left <= 1_000 && left > -60_000_000)
        #expect(callbacks.paths == ["params.interceptor[10].callback"])
        let other = try read(#"[{"oauth2":{"callback":{"name":"c"},"credential":null,"window":null}}]"#)
        #expect(other?.authentication?.credential == nil)
        #expect(other?.authentication != nil)
        #expect(callbacks.paths.last == "params.interceptor[0].oauth2.callback")
    }

    @Test("An element that obtains tokens holds no credential that can be set, and hides what it sends")
    func obtained() throws {
        let text = """
            [{"oauth2":{"token_url":"http://a.test/","grant":"client_credentials","client_id":"i","client_secret":"s",
            "client_auth":"body","scope":"x","parameters":{"audience":"b","resource":["c","d"]}}}]
            """
        let interceptor = try #require(try read(text))
        #expect(interceptor.authentication == nil)
        #expect(interceptor.hidesAuthorization)
        #expect(try read(#"[{"bearer":{"token":"t"}}]"#)?.hidesAuthorization == false)
        #expect(
            try read(
                #"[{"oauth2":{"token_url":"http://a/","grant":"password","username":"u","password":"p"}}]"#
            )?.hidesAuthorization == true)
    }

    @Test("RI-04: adapters run in the order of the list")
    func order() throws {
        let interceptor = try #require(
            try read(
                """
                [{"set_header":{"name":"A","value":"1"}},{"set_header":{"name":"a","value":"2"}},
                {"set_header":{"name":"B","value":"3","mode":"append"}},{"rewrite":{"port":81,"path_prefix":"/v2"}}]
                """))
        let stage = try CurlTransport(loop: loop)
        let session = Session(
            name: "s", configuration: SessionConfiguration(), transport: stage, scheduler: loop,
            spool: NoTokens.Spool(), files: FileStore(work: InlineWork(), scheduler: loop),
            eventMonitor: NoTokens.Monitor())
        let request = session.request(RequestParameters(url: "http://a.test/x"), id: "r")
        var adapted: TransportRequest?
        interceptor.adapt(
            TransportRequest(method: .get, url: try HTTPURL("http://a.test/x")), for: request
        ) { adapted = try? $0.get() }
        #expect(adapted?.fields.map { "\($0.name)=\($0.value)" } == ["a=2", "B=3"])
        #expect(adapted?.url.description == "http://a.test:81/v2/x")
    }

    @Test("RT-01 to RT-07, F-24: the options of a policy")
    func policies() throws {
        #expect(try policy("retry_policy", "{}") == RetryPolicy())
        #expect(try policy("connection_lost", "{}") == RetryPolicy.connectionLost())
        let policy = try policy(
            "retry_policy",
            """
            {"limit":7,"base":3,"scale_ms":9,"methods":["POST","x"],"statuses":[429,500],"codes":[-1001,"bad_url"],
            "respect_retry_after":true,"jitter":0.5,"max_delay_ms":4,"without_validation":true}
            """)
        #expect(policy.limit == 7 && policy.base == 3 && policy.scaleMilliseconds == 9)
        #expect(policy.methods == ["POST", "x"])
        #expect(policy.statuses == [429, 500] && policy.statusesWithoutValidation == [429, 500])
        #expect(policy.codes == [-1_001, -1_000])
        #expect(policy.respectsRetryAfter && policy.jitter == 0.5 && policy.maximumDelayMilliseconds == 4)
        let polite = try self.policy("retry_policy", #"{"respect_retry_after":true}"#)
        #expect(polite.statuses == RetryPolicy.transientStatuses.union([429]))
        #expect(try read(#"[{"retry_policy":{"without_validation":true}}]"#)?.statusesWithoutValidation.count == 5)
    }

    @Test(
        "Every refusal names its place",
        arguments: [
            (#"{}"#, ""), (#"["retry"]"#, "[0]"), (#"["oauth2"]"#, "[0]"),
            (#"[{"retry_polcy":{}}]"#, "[0].retry_polcy"),
            (#"[{"retry_policy":{},"bearer":{"token":"t"}}]"#, "[0]"),
            (#"[{"retry_policy":{"base":1}}]"#, "[0].retry_policy.base"),
            (#"[{"retry_policy":{"jitter":1.5}}]"#, "[0].retry_policy.jitter"),
            (#"[{"retry_policy":{"methods":["GE T"]}}]"#, "[0].retry_policy.methods[0]"),
            (#"[{"retry_policy":{"codes":["timed_out","time_out"]}}]"#, "[0].retry_policy.codes[1]"),
            (#"[{"retry_policy":{"codes":[-7]}}]"#, "[0].retry_policy.codes[0]"),
            (#"[{"connection_lost":{"statuses":[500]}}]"#, "[0].connection_lost.statuses"),
            (#"["retry_policy",{"set_header":{"name":"A b","value":""}}]"#, "[1].set_header"),
            (#"[{"set_header":{"name":"Host","value":"b"}}]"#, "[0].set_header.name"),
            (#"[{"set_header":{"name":"A","value":"b","mode":"add"}}]"#, "[0].set_header.mode"),
            (#"[{"rewrite":{"host":"a.test:80"}}]"#, "[0].rewrite.host"),
            (#"[{"rewrite":{"host":"u@a.test"}}]"#, "[0].rewrite.host"),
            (#"[{"rewrite":{"host":"a/b"}}]"#, "[0].rewrite.host"), (#"[{"rewrite":{"host":""}}]"#, "[0].rewrite.host"),
            (#"[{"rewrite":{"path_prefix":"v2"}}]"#, "[0].rewrite.path_prefix"),
            (#"[{"rewrite":{"path_prefix":"/v\n2"}}]"#, "[0].rewrite.path_prefix"),
            (#"[{"rewrite":{"path_prefix":"/?"}}]"#, "[0].rewrite.path_prefix"),
            (#"[{"basic_auth":{"username":"a:b","password":""}}]"#, "[0].basic_auth"),
            (#"[{"compress":{"format":"br"}}]"#, "[0].compress.format"),
            (#"[{"bearer":{"token":"a b"}}]"#, "[0].bearer.token"),
            (#"[{"oauth2":{}}]"#, "[0].oauth2"), (#"[{"oauth2":{"token_url":"x"}}]"#, "[0].oauth2.token_url"),
            (#"[{"oauth2":{"token_url":"http://a/","headers":{"A":"\n"}}}]"#, "[0].oauth2.headers.A"),
            (#"[{"oauth2":{"callback":{"name":"c"},"client_id":"x"}}]"#, "[0].oauth2.client_id"),
            (#"[{"oauth2":{"callback":{"name":"c"},"grant":"password"}}]"#, "[0].oauth2.grant"),
            (#"[{"oauth2":{"token_url":"http://a/","grant":"implicit"}}]"#, "[0].oauth2.grant"),
            (#"[{"oauth2":{"token_url":"http://a/","grant":"client_credentials"}}]"#, "[0].oauth2.client_id"),
            (
                #"[{"oauth2":{"token_url":"http://a/","grant":"client_credentials","client_secret":"s"}}]"#,
                "[0].oauth2.client_id"
            ),
            (
                #"[{"oauth2":{"token_url":"x","grant":"client_credentials","client_id":"c"}}]"#,
                "[0].oauth2.token_url"
            ),
            (
                #"[{"oauth2":{"token_url":"http://a/","grant":"client_credentials","client_id":"c","username":"u"}}]"#,
                "[0].oauth2.username"
            ),
            (
                #"[{"oauth2":{"token_url":"http://a/","grant":"password","username":"u","password":"p","credential":{"access_token":"a"}}}]"#,
                "[0].oauth2.credential"
            ),
            (#"[{"oauth2":{"token_url":"http://a/","password":"p"}}]"#, "[0].oauth2.password"),
            (#"[{"oauth2":{"token_url":"http://a/","grant":"password","username":"u"}}]"#, "[0].oauth2.password"),
            (
                #"[{"oauth2":{"token_url":"http://a/","client_id":"c","client_auth":"header"}}]"#,
                "[0].oauth2.client_auth"
            ),
            (
                #"[{"oauth2":{"token_url":"http://a/","parameters":{"scope":"x"}}}]"#,
                "[0].oauth2.parameters.scope"
            ),
            (
                #"[{"oauth2":{"token_url":"http://a/","parameters":{"resource":[]}}}]"#,
                "[0].oauth2.parameters.resource"
            ),
            (
                #"[{"oauth2":{"token_url":"http://a/","grant":"client_credentials","client_id":"c","client_secret":"s","headers":{"Authorization":"x"}}}]"#,
                "[0].oauth2.headers"
            ),
            (
                #"[{"oauth2":{"token_url":"http://a/","credential":{"access_token":"a b"}}}]"#,
                "[0].oauth2.credential.access_token"
            ),
            (#"[\#(Array(repeating: "\"retry_policy\"", count: 33).joined(separator: ","))]"#, ""),
        ])
    func refusals(_ text: String, _ path: String) throws {
        let error = try #require(throws: RPCError.self) { try read(text) }
        #expect(error.code == -32_602)
        #expect(error.message.hasPrefix("Invalid params: params.interceptor\(path): "), "\(error.message)")
    }

    @Test("No refusal shows a secret")
    func secrets() throws {
        for text in [
            #"[{"bearer":{"token":"top secret"}}]"#, #"[{"basic_auth":{"username":"a:b","password":"top secret"}}]"#,
            #"[{"oauth2":{"token_url":"http://a/","credential":{"access_token":"top secret"}}}]"#,
            #"[{"oauth2":{"token_url":"http://a/","grant":"password","password":"top secret"}}]"#,
            #"[{"oauth2":{"token_url":"http://a/","grant":"client_credentials","client_secret":"top secret"}}]"#,
        ] {
            let error = try #require(throws: RPCError.self) { try read(text) }
            #expect(!"\(error)".contains("secret"))
        }
    }
}
