import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import Testing

struct RedirectReaderTests {
    /// Records the callbacks that the parameters name.
    private final class Callbacks: CallbackFactory {
        final class Decider: RedirectDecider {
            func redirect(
                _ request: Request, after response: ResponseHead, to proposed: TransportRequest,
                completion: @escaping (Result<TransportRequest?, SessionError>) -> Void
            ) {}
        }
        var asked: [String] = []

        func redirectDecider(_ json: JSON, path: String) throws(RPCError) -> any RedirectDecider {
            asked.append("\(json["name"]?.string ?? "") \(path)")
            return Decider()
        }
        func interceptor(_ json: JSON, path: String) throws(RPCError) -> any RequestInterceptor { throw .cancelled }
        func validator(_ json: JSON, path: String) throws(RPCError) -> any ResponseValidator { throw .cancelled }
        func serializer(_ json: JSON, path: String) throws(RPCError) -> any ResponseSerializer { throw .cancelled }
        func preprocessor(_ json: JSON, path: String) throws(RPCError) -> any ResponsePreprocessor { throw .cancelled }
        func uploadable(_ json: JSON, mayOpenFiles: Bool, path: String) throws(RPCError) -> any Uploadable {
            throw .cancelled
        }
        func destinationDecider(
            _ json: JSON, options: DownloadOptions, path: String
        ) throws(RPCError) -> any DestinationDecider {
            throw .cancelled
        }
        func challengeDecider(_ json: JSON, path: String) throws(RPCError) -> ChallengeDecider { throw .cancelled }
        func cachedResponseDecider(_ json: JSON, path: String) throws(RPCError) -> any CachedResponseDecider {
            throw .cancelled
        }
        func trustEvaluator(_ json: JSON, path: String) throws(RPCError) -> ServerTrustEvaluator { throw .cancelled }
        func refresher(_ json: JSON, path: String) throws(RPCError) -> any CredentialRefresher { throw .cancelled }
    }

    private let callbacks = Callbacks()

    private func read(_ text: String) throws -> RedirectHandler {
        let json = try JSON.parse(Array(text.utf8))
        do throws(JSONError) { try JSONSchema.redirect.validate(json, path: "redirect") } catch {
            throw RPCError.invalidParams(error)
        }
        return try RedirectReader(callbacks: callbacks).redirect(json, path: "redirect")
    }

    private func refusal(_ text: String) -> String? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return (error as? RPCError)?["path"] ?? "\(error)"
        }
    }

    @Test("RH-01, RH-02, RH-05: the words, and the defaults")
    func defaults() throws {
        for text in [#""follow""#, "{}"] {
            let handler = try read(text)
            #expect(handler.follows)
            #expect(handler.maximumHops == 16)
            #expect(!handler.keepsMethod && !handler.allowsDowngrade)
            #expect(handler.authorization == .sameOrigin)
            #expect(handler.strippedFields.isEmpty)
        }
        guard case .doNotFollow = try read(#""do_not_follow""#).behaviour else {
            Issue.record("followed")
            return
        }
    }

    @Test("RH-05: every option finds its place")
    func options() throws {
        let handler = try read(
            #"{"max_hops":3,"keep_method":true,"keep_authorization":"always","allow_downgrade":true,"strip_headers":["X-A"]}"#
        )
        #expect(handler.maximumHops == 3)
        #expect(handler.keepsMethod && handler.allowsDowngrade)
        #expect(handler.authorization == .always)
        #expect(handler.strippedFields == ["X-A"])
        #expect(try read(#"{"keep_authorization":"never"}"#).authorization == .never)
    }

    @Test("RH-03: a modification")
    func modification() throws {
        let handler = try read(
            """
            {"modify":{"url":"http://b.test/","method":"PUT","set_headers":{"X-A":["1","2"]},"remove_headers":["X-B"],\
            "drop_body":true},"max_hops":2}
            """)
        guard case .modify(let modification) = handler.behaviour else {
            Issue.record("not a modification")
            return
        }
        #expect(modification.url?.description == "http://b.test/")
        #expect(modification.method?.rawValue == "PUT")
        #expect(modification.fields.map { "\($0.name)=\($0.value)" } == ["X-A=1", "X-A=2"])
        #expect(modification.removedFields == ["X-B"])
        #expect(modification.dropsBody)
        #expect(handler.maximumHops == 2)
    }

    @Test("RH-03: a client decides")
    func callback() throws {
        let handler = try read(#"{"callback":{"name":"where","on_failure":"follow"},"keep_method":true}"#)
        guard case .ask = handler.behaviour else {
            Issue.record("not asked")
            return
        }
        #expect(callbacks.asked == ["where redirect.callback"])
        #expect(handler.keepsMethod)
    }

    @Test(
        "What is wrong is refused with its place",
        arguments: [
            (#""folow""#, "redirect"), (#"{"max_hops":65}"#, "redirect.max_hops"),
            (#"{"keep_methods":true}"#, "redirect.keep_methods"),
            (#"{"keep_authorization":"maybe"}"#, "redirect.keep_authorization"),
            (#"{"strip_headers":["a b"]}"#, "redirect.strip_headers[0]"),
            (#"{"modify":{"url":"/x"}}"#, "redirect.modify.url"),
            (#"{"modify":{"url":"ftp://a.test/"}}"#, "redirect.modify.url"),
            (#"{"modify":{"method":"A B"}}"#, "redirect.modify.method"),
            (#"{"modify":{"method":"CONNECT"}}"#, "redirect.modify.method"),
            (#"{"modify":{"set_headers":{"Content-Length":"1"}}}"#, "redirect.modify.set_headers.Content-Length"),
            (#"{"modify":{"set_headers":{"Host":"a"}}}"#, "redirect.modify.set_headers"),
            (#"{"modify":{"remove_headers":["X","te:"]}}"#, "redirect.modify.remove_headers[1]"),
            (#"{"modify":{"uri":"x"}}"#, "redirect.modify.uri"),
            (#"{"callback":{}}"#, "redirect.callback.name"),
            (#"{"callback":{"name":"x","on_failure":"retry"}}"#, "redirect.callback.on_failure"),
            (#"{"callback":{"name":"x"},"modify":{}}"#, "redirect"),
        ])
    func refusals(_ text: String, _ path: String) {
        #expect(refusal(text) == path)
    }

    @Test(
        "CO-03 to CO-06: what stands under compress",
        arguments: [
            ("{}", "duplicate_header"), (#"{"duplicate":"replace"}"#, "deflate"),
            (#"{"format":"gzip","duplicate":"replace"}"#, "gzip"), (#"{"duplicate":"skip"}"#, "br"),
            (#"{"duplicate":"replace","min_bytes":2}"#, "br"),
        ])
    func compressor(_ text: String, _ expected: String) throws {
        let json = try JSON.parse(Array(text.utf8))
        try JSONSchema.compress.validate(json, path: "compress")
        let compressor = try CompressorReader.read(json, path: "compress")
        var request = TransportRequest(method: .post, url: try HTTPURL("http://a.test/"))
        request.body = .bytes([1])
        request.fields = [try HTTPField(name: "Content-Encoding", value: "br")]
        do throws(SessionError) {
            #expect(try compressor.compressed(request).fields.map(\.value) == [expected])
        } catch {
            #expect(error.name == expected)
        }
    }

    @Test("CO-04: nothing under compress means the defaults")
    func compressorDefaults() throws {
        var request = TransportRequest(method: .post, url: try HTTPURL("http://a.test/"))
        request.body = .bytes([0])
        let next = try CompressorReader.read(nil, path: "compress").compressed(request)
        guard case .bytes(let bytes) = next.body else {
            Issue.record("no body")
            return
        }
        #expect(bytes == [0x78, 0x5E, 0x63, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01])
    }
}
