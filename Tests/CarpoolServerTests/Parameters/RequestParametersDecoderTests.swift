import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolRPC
@testable import CarpoolServer
import CarpoolSession
import Glibc
import Testing

struct RequestParametersDecoderTests {
    private static func read(_ members: String, uid: UInt32 = 1_000) throws -> RequestParameters {
        let method = try #require(Catalogue.carpool["request.perform"])
        let json = try JSON.parse(Array(#"{"url":"http://a.test/",\#(members)}"#.utf8))
        let params = try Catalogue.carpool.bind(params: json, of: method)
        let reader = try RequestParametersDecoder.make(FakeClient(uid: uid), params: uid == 1_000 ? params : .none)
        _ = try reader.tags(params["tags"])
        return try reader.parameters(params)
    }

    private static func names(_ members: String) throws -> [String] {
        try read(members).fields.map { "\($0.name)=\($0.value)" }
    }

    @Test("Every member finds its place")
    func everything() throws {
        let parameters = try Self.read(
            """
            "method":"PROPFIND","trust":{"verify":false},"redirect":{"max_hops":3},"http_version":"1.1","timeout_ms":1,\
            "resource_timeout_ms":2,"connect_timeout_ms":3,"decode":false,"max_ratio":4,"response_body":"file"
            """)
        #expect(parameters.method.rawValue == "PROPFIND")
        #expect(parameters.trust == ServerTrust.none)
        #expect(parameters.redirect?.maximumHops == 3)
        #expect(parameters.httpVersion == .http1)
        #expect(parameters.idleTimeoutMilliseconds == 1)
        #expect(parameters.resourceTimeoutMilliseconds == 2)
        #expect(parameters.connectTimeoutMilliseconds == 3)
        #expect(parameters.decodesContent == false)
        #expect(parameters.maximumDecodingRatio == 4)
        #expect(parameters.memoryLimitBytes == 0)
        #expect(try Self.read(#""redirect":"do_not_follow""#).redirect?.follows == false)
        #expect(try Self.read(#""redirect":"follow""#).redirect?.follows == true)
        #expect(try Self.read(#""trust":"system""#).trust == .system)
        let absent = try Self.read(#""kind":"data""#)
        #expect(absent.method == .get)
        #expect(absent.trust == nil)
        #expect(absent.redirect?.follows == nil)
        #expect(absent.memoryLimitBytes == 45_056)
    }

    @Test(
        "Both forms of headers keep order, case and duplicates",
        arguments: [
            (#"{"X-B":"1","x-a":["2","3"]}"#, ["X-B=1", "x-a=2", "x-a=3"]),
            (#"[["X-B","1"],["x-a","2"],["X-B","3"]]"#, ["X-B=1", "x-a=2", "X-B=3"]), ("{}", []), ("[]", []),
            (#"{"X":[]}"#, []), (#"{"X":" a\tb "}"#, ["X=a\tb"]), (#"{"X":""}"#, ["X="]),
        ])
    func headers(_ headers: String, _ expected: [String]) throws {
        #expect(try Self.names(#""headers":\#(headers)"#) == expected)
    }

    @Test(
        "Every refusal names its place",
        arguments: [
            (#""method":"CONNECT""#, "params.method"), (#""method":"GE T""#, "params.method"),
            (#""method":"""#, "params.method"), (#""headers":{"Content-Length":"1"}"#, "params.headers.Content-Length"),
            (#""headers":{"transfer-ENCODING":"chunked"}"#, "params.headers.transfer-ENCODING"),
            (#""headers":{"X":["a","b\r\nc"]}"#, "params.headers.X[1]"),
            (#""headers":[["A","1"],["B C","2"]]"#, "params.headers[1]"),
            (#""headers":[["A","\u0000"]]"#, "params.headers[0]"),
            (#""headers":{"Upgrade":"h2c"}"#, "params.headers.Upgrade"),
            (#""headers":{"Host":["a","b"]}"#, "params.headers"), (#""headers":{"Host":"a/b"}"#, "params.headers.Host"),
            (#""method":"POST","body":{"base64":"AAA"}"#, "params.body.base64"),
            (#""method":"POST","body":{"base64":"A A="}"#, "params.body.base64"),
            (#""body":{"file":"relative"}"#, "params.body.file"),
            (#""trust":{"ca_file":"ca.pem"}"#, "params.trust.ca_file"),
            (#""tags":{"\#(String(repeating: "k", count: 129))":"v"}"#, "params.tags"),
        ])
    func refusals(_ members: String, _ path: String) throws {
        let error = try #require(throws: RPCError.self) { try Self.read(members) }
        #expect(error.code == -32_602)
        #expect(error["path"] == path)
        #expect(error["expected"] != nil)
    }

    @Test("The first of several refusals is reported, in a fixed order")
    func order() throws {
        let members = [
            "interceptor": #"[{"retry_policy":{"methods":["A B"]}}]"#, "validate": #"[{"status":["2"]}]"#,
            "serialize": #"{"as":"json","encoding":"utf-8"}"#, "redirect": #"{"strip_headers":["A B"]}"#,
            "trust": #"{"ca_file":"ca.pem"}"#,
        ]
        func text(_ names: some Sequence<String>) -> String {
            names.map { "\"\($0)\":\(members[$0] ?? "")" }.joined(separator: ",")
        }
        let ofRequest = ["interceptor", "validate", "serialize", "redirect", "trust"]
        for (index, name) in ofRequest.enumerated() {
            let given = text(ofRequest[index...].reversed())
            let error = try #require(throws: RPCError.self) { try Self.read(given) }
            #expect(error["path"]?.hasPrefix("params.\(name)") == true, "\(given)")
        }
        let reader = try RequestParametersDecoder.make(FakeClient())
        let ofSession = ["trust", "redirect", "interceptor", "validate"]
        for (index, name) in ofSession.enumerated() {
            let json = try JSON.parse(Array("{\(text(ofSession[index...].reversed()))}".utf8))
            let error = try #require(throws: RPCError.self) { try reader.configuration(json) }
            #expect(error["path"]?.hasPrefix("params.configuration.\(name)") == true)
        }
    }

    @Test(
        "Host may repeat the URL's authority, in each of its spellings",
        arguments: [
            ("http://a.test/", "a.test"), ("http://a.test/", "A.Test:80"), ("https://a.test:443/", "a.test"),
            ("https://a.test/", "a.test:443"), ("http://A.test:81/", "a.test:81"), ("http://[::1]:81/", "[::1]:81"),
            ("not a url", "whatever"),
        ])
    func host(_ url: String, _ host: String) throws {
        let reader = try RequestParametersDecoder.make(FakeClient())
        let method = try #require(Catalogue.carpool["request.perform"])
        let json = try JSON.parse(Array(#"{"url":"\#(url)","headers":{"Host":"\#(host)"}}"#.utf8))
        let params = try Catalogue.carpool.bind(params: json, of: method)
        #expect(try reader.parameters(params).fields.count == 1)
    }

    // MARK: Bodies

    @Test(
        "Bodies in the message",
        arguments: [
            (#"{"text":"é"}"#, "é"), (#"{"text":""}"#, ""),
            (#"{"json":{"b":1.10,"a":[null,"\u0000"]}}"#, #"{"b":1.10,"a":[null,"\u0000"]}"#),
            (#"{"base64":"aGVsbG8="}"#, "hello"), (#"{"base64":""}"#, ""),
        ])
    func body(_ body: String, _ expected: String) throws {
        guard case .bytes(let bytes) = try Self.read(#""body":\#(body)"#).body else {
            Issue.record("not in memory")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test(
        "A range of a file",
        arguments: [
            ("", 0, 5), (#","offset":2"#, 2, 3), (#","offset":5"#, 5, 0), (#","offset":1,"length_bytes":2"#, 1, 2),
        ])
    func file(_ range: String, _ offset: Int64, _ length: Int64) throws {
        let folder = TemporaryFolder()
        let path = folder.write("body", "hello")
        symlink(path, folder("link"))
        for name in [path, folder("link")] {
            guard case .file(_, offset, length) = try Self.read(#""body":{"file":"\#(name)"\#(range)}"#).body else {
                Issue.record("another range of \(name)")
                return
            }
        }
    }

    @Test(
        "A range that the file does not have",
        arguments: [
            (#""offset":6"#, "params.body.offset"), (#""offset":2,"length_bytes":4"#, "params.body.length_bytes"),
            (#""length_bytes":9223372036854775807"#, "params.body.length_bytes"),
        ])
    func badRange(_ range: String, _ path: String) throws {
        let folder = TemporaryFolder()
        let file = folder.write("body", "hello")
        let error = try #require(throws: RPCError.self) { try Self.read(#""body":{"file":"\#(file)",\#(range)}"#) }
        #expect(error["path"] == path)
    }

    @Test(
        "What is no regular file is not opened, and nothing waits for it",
        arguments: [("directory", EISDIR), ("fifo", EINVAL), ("absent", ENOENT), ("loop", ELOOP), ("device", EINVAL)])
    func notAFile(_ kind: String, _ code: Int32) throws {
        let folder = TemporaryFolder()
        mkdir(folder("directory"), 0o700)
        mkfifo(folder("fifo"), 0o600)
        symlink(folder("loop"), folder("loop"))
        symlink("/dev/null", folder("device"))
        for members in [#""body":{"file":"\#(folder(kind))"}"#, #""trust":{"ca_file":"\#(folder(kind))"}"#] {
            let error = try #require(throws: RPCError.self) { try Self.read(members) }
            #expect(error.name == "file.cannot_open")
            #expect(error["path"] == folder(kind))
            #expect(error.members.contains { $0.name == "errno" && $0.value == .integer(Int(code)) })
        }
    }

    @Test("Only the daemon's own user reads files with the daemon's rights", arguments: [0, 1_001] as [UInt32])
    func otherUsers(_ uid: UInt32) throws {
        let folder = TemporaryFolder()
        let path = folder.write("secret", "x")
        for members in [#""body":{"file":"\#(path)"}"#, #""trust":{"ca_file":"\#(path)"}"#] {
            let error = try #require(throws: RPCError.self) { try Self.read(members, uid: uid) }
            #expect(error.name == "file.not_owner")
        }
    }

    @Test("b1, a7: a file of authorities is identified by its content, not by its path or times")
    func authorities() throws {
        let folder = TemporaryFolder()
        let members = #""trust":{"ca_file":"\#(folder.write("ca.pem", TestCertificate.pem))"}"#
        let first = try #require(try Self.read(members).trust)
        #expect(try Self.read(members).trust == first)
        let copy = folder.write("copy.pem", TestCertificate.pem)
        #expect(try Self.read(#""trust":{"ca_file":"\#(copy)"}"#).trust == first)
        var status = stat()
        stat(folder("ca.pem"), &status)
        // The same place, size and time.
        folder.write("ca.pem", TestCertificate.pem.replacing("Vb3POL", with: "Vb3POA"))
        utimensat(AT_FDCWD, folder("ca.pem"), [status.st_atim, status.st_mtim], 0)
        #expect(try Self.read(members).trust != first)
        guard case .only(let authorities) = first.authorities else {
            Issue.record("not the file's authorities")
            return
        }
        #expect(authorities.path == folder("ca.pem"))
        #expect(authorities.store.count == 1)
    }

    @Test(
        "b1: a file without certificates is refused before anything is sent",
        arguments: [
            ("", "holds no certificate"), ("text\n", "holds no certificate"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate 1"),
            (String(repeating: "x", count: 1_048_577), "1048577 bytes"),
        ])
    func badAuthorities(_ content: String, _ message: String) throws {
        let folder = TemporaryFolder()
        let members = #""trust":{"ca_file":"\#(folder.write("ca.pem", content))"}"#
        let error = try #require(throws: RPCError.self) { try Self.read(members) }
        #expect(error["path"] == "params.trust.ca_file")
        #expect(error.message.contains(message))
    }

    // MARK: Sessions

    @Test("The documented defaults of a session are those that it has")
    func defaults() throws {
        var text = JSONWriter()
        text.beginObject()
        for member in AnyParameter.sharedParameters.map(\.member) {
            guard let value = member.defaultValue else { continue }
            text.key(member.name)
            text.raw(Array(value.utf8))
        }
        text.endObject()
        let decoder = try RequestParametersDecoder.make(FakeClient())
        let documented = try decoder.configuration(try JSON.parse(text.bytes))
        let none = try decoder.configuration(nil)
        func scalars(_ options: TransferOptions) -> String {
            var writer = JSONWriter()
            writer.beginObject()
            options.writeScalars(to: &writer)
            writer.endObject()
            return String(decoding: writer.bytes, as: UTF8.self)
        }
        #expect(scalars(documented.options) == scalars(none.options))
        #expect(documented.options.idleTimeoutMilliseconds.isGiven && !none.options.idleTimeoutMilliseconds.isGiven)
        #expect(documented.trust == none.trust && documented.validators.isEmpty && none.validators.isEmpty)
        #expect(documented.redirect.follows && none.redirect.follows)
        #expect(documented.startsRequestsImmediately && none.startsRequestsImmediately)
    }

    @Test("A session's configuration means the same, and its refusals name its place")
    func configuration() throws {
        let reader = try RequestParametersDecoder.make(FakeClient())
        let text = """
            {"headers":{"A":"1"},"trust":{"verify":false},"redirect":"do_not_follow","http_version":"2","timeout_ms":1,\
            "resource_timeout_ms":2,"connect_timeout_ms":3,"decode":false,"max_ratio":4}
            """
        let configuration = try reader.configuration(try JSON.parse(Array(text.utf8)))
        #expect(configuration.fields.map(\.name) == ["A"])
        #expect(configuration.trust == .none)
        #expect(!configuration.redirect.follows)
        #expect(configuration.httpVersion == .http2)
        #expect(configuration.idleTimeoutMilliseconds == 1)
        #expect(configuration.resourceTimeoutMilliseconds == 2)
        #expect(configuration.connectTimeoutMilliseconds == 3)
        #expect(!configuration.decodesContent)
        #expect(configuration.maximumDecodingRatio == 4)
        #expect(try reader.configuration(nil).fields.isEmpty)
        let bad = try JSON.parse(Array(#"{"headers":{"TE":"x"}}"#.utf8))
        let error = try #require(throws: RPCError.self) { try reader.configuration(bad) }
        #expect(error["path"] == "params.configuration.headers.TE")
    }
}
