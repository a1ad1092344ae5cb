import CarpoolHTTP
import Testing

/// Requests and responses, against a real nginx.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct CurlTransportTests {
    let nginx: Nginx
    let trust: ServerTrust

    init() throws {
        nginx = try Nginx.shared.get()
        trust = try .authorities(file: nginx.authority)
    }

    @Test func tellsEachStepOnce() async throws {
        let driver = try await Driver()
        let outcome = try await driver.fetch(Ask(nginx.http + "/hello"))
        #expect(outcome.error == nil)
        #expect(outcome.status == 200)
        #expect(outcome.text == "hello")
        #expect(outcome.version == "http/1.1")
        #expect(outcome.heads == 1 && outcome.starts == 1 && outcome.completions == 1)
        #expect(outcome.field("content-length") == "5")
        await driver.end()
    }

    @Test func speaksTLSAndHTTP2WhereTheLibraryIsFitForIt() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.https + "/hello")
        ask.trust = trust
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error == nil)
        #expect(outcome.text == "hello")
        #expect(outcome.version == (CurlLibrary.profile == .multiplex ? "h2" : "http/1.1"))
        #expect(outcome.metrics.tlsVersion == "TLSv1.3")
        #expect(outcome.metrics.tlsCipher?.hasPrefix("TLS_") == true)
        await driver.end()
    }

    @Test(arguments: [(HTTPVersionPolicy.http1, "http/1.1"), (.http2, "h2")])
    func speaksTheVersionThatIsAskedFor(policy: HTTPVersionPolicy, version: String) async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.https + "/hello")
        ask.trust = trust
        ask.version = policy
        let outcome = try await driver.fetch(ask)
        #expect(outcome.version == version)
        #expect(outcome.text == "hello")
        await driver.end()
    }

    /// The echo is method, X-Test, Accept, User-Agent, Content-Length, Content-Type, Expect, Accept-Encoding and Host.
    @Test(arguments: [
        ("GET", nil, "GET||||||||"), ("DELETE", nil, "DELETE||||||||"), ("PROPFIND", nil, "PROPFIND||||||||"),
        ("POST", nil, "POST||||0||||"), ("PUT", nil, "PUT||||0||||"), ("PATCH", nil, "PATCH||||0||||"),
        ("POST", "", "POST||||0||||"), ("POST", "abc", "POST||||3||||"), ("PUT", "abc", "PUT||||3||||"),
        ("DELETE", "abc", "DELETE||||3||||"), ("REPORT", "x", "REPORT||||1||||"),
    ]) func sendsNothingThatWasNotAskedFor(method: String, body: String?, echo: String) async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/echo")
        ask.method = method
        ask.body = body.map { Array($0.utf8) }
        ask.decodes = false
        let outcome = try await driver.fetch(ask)
        #expect(outcome.text == echo + "127.0.0.1:\(nginx.ports.plain)")
        #expect(outcome.sentBodyBytes == body?.utf8.count ?? 0)
        await driver.end()
    }

    @Test func sendsTheFieldsThatWereAskedFor() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/echo")
        ask.method = "POST"
        ask.body = [1, 2, 3]
        ask.fields = [
            ("X-Test", "a b"), ("accept", "text/x"), ("User-Agent", "me"), ("content-type", "a/b"),
            ("Accept-Encoding", "identity"), ("Host", "evil.example"),
        ]
        let outcome = try await driver.fetch(ask)
        #expect(outcome.text == "POST|a b|text/x|me|3|a/b||identity|evil.example")
        await driver.end()
    }

    @Test func sendsFieldsInOrderWithDuplicatesAndEmptyOnes() async throws {
        let origin = try ScriptedOrigin { peer in
            let head = peer.readHead() ?? ""
            let body = head.split(separator: "\r\n").dropFirst(2).joined(separator: "|")
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        let driver = try await Driver()
        var ask = Ask(origin.url)
        ask.fields = [("b", "1"), ("A", ""), ("B", "2"), ("cookie", "x=y")]
        ask.decodes = false
        #expect(try await driver.fetch(ask).text == "b: 1|A:|B: 2|cookie: x=y")
        await driver.end()
        origin.end()
    }

    @Test func aHeadHasNoBody() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/hello")
        ask.method = "HEAD"
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error == nil)
        #expect(outcome.status == 200)
        #expect(outcome.body.isEmpty)
        #expect(outcome.field("content-length") == "5")
        await driver.end()
    }

    @Test(arguments: [false, true]) func sendsAndReceivesLargeBodies(isSecure: Bool) async throws {
        let driver = try await Driver()
        var up = Ask((isSecure ? nginx.https : nginx.http) + "/upload")
        up.trust = trust
        up.method = "POST"
        up.file = (nginx.directory + "/www/big", 1_000, 2_000_000)
        let sent = try await driver.fetch(up)
        #expect(sent.error == nil)
        #expect(sent.text == "2000000")
        #expect(sent.sentBodyBytes == 2_000_000)
        #expect(sent.metrics.requestBodyBytes == 2_000_000)
        var down = Ask((isSecure ? nginx.https : nginx.http) + "/big")
        down.trust = trust
        let received = try await driver.fetch(down)
        #expect(received.body.count == 3_000_000)
        #expect(received.metrics.responseBodyBytes == 3_000_000)
        #expect(received.metrics.decodedBodyBytes == 3_000_000)
        await driver.end()
    }

    @Test func aFileThatIsTooShortFailsTheRequest() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/upload")
        ask.method = "PUT"
        ask.file = (nginx.directory + "/ca.pem", 0, 1_000_000)
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error?.code == .requestBodyStreamExhausted)
        await driver.end()
    }

    @Test func measuresAHop() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.https + "/hello")
        ask.trust = trust
        let first = try await driver.fetch(ask).metrics
        let steps = [
            first.queuedMicroseconds, first.resolvedMicroseconds ?? -1, first.connectedMicroseconds ?? -1,
            first.securedMicroseconds ?? -1, first.requestMicroseconds ?? -1, first.firstByteMicroseconds ?? -1,
            first.endMicroseconds,
        ]
        #expect(steps == steps.sorted())
        #expect(steps.allSatisfy { $0 >= 0 })
        #expect(!first.isReused)
        #expect(first.remoteAddress == "127.0.0.1" && first.remotePort == nginx.ports.secure)
        #expect(first.localAddress == "127.0.0.1" && first.localPort != 0)
        #expect(first.requestHeaderBytes > 20 && first.responseHeaderBytes > 20)
        #expect(first.responseBodyBytes == 5 && first.decodedBodyBytes == 5 && first.requestBodyBytes == 0)
        #expect(first.fetchStart > 1_600_000_000_000_000)
        let second = try await driver.fetch(ask).metrics
        #expect(second.isReused)
        #expect(second.resolvedMicroseconds == nil && second.connectedMicroseconds == nil)
        #expect(second.securedMicroseconds == nil)
        #expect(second.connection == first.connection && second.localPort == first.localPort)
        #expect(second.tlsVersion == first.tlsVersion)
        #expect(second.endMicroseconds >= second.firstByteMicroseconds ?? .max)
        await driver.end()
    }

    @Test func decodesOnlyWhatItAskedFor() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/zero.txt")
        ask.ratio = 100_000
        let decoded = try await driver.fetch(ask)
        #expect(decoded.error == nil)
        #expect(decoded.field("content-encoding") == "gzip")
        #expect(decoded.body.count == 20_000_000)
        #expect(decoded.metrics.responseBodyBytes < 200_000)
        ask.fields = [("Accept-Encoding", "gzip")]
        let raw = try await driver.fetch(ask)
        #expect(Array(raw.body.prefix(2)) == [0x1F, 0x8B])
        ask.fields = []
        ask.decodes = false
        #expect(try await driver.fetch(ask).body.count == 20_000_000)
        await driver.end()
    }

    @Test func stopsABodyThatGrowsTooMuchInDecoding() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/zero.txt")
        ask.ratio = 100
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error?.code == .dataLengthExceedsMaximum)
        #expect(outcome.body.count < 5_000_000)
        #expect(try await driver.fetch(Ask(nginx.http + "/hello")).text == "hello")
        await driver.end()
    }

    @Test func doesWithoutTrustOnlyOnRequest() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.https + "/hello")
        #expect(try await driver.fetch(ask).error?.code == .serverCertificateHasUnknownRoot)
        ask.trust = .none
        #expect(try await driver.fetch(ask).text == "hello")
        ask.trust = trust
        #expect(try await driver.fetch(ask).text == "hello")
        ask.url = "https://127.0.0.1:\(nginx.ports.secure)/hello"
        #expect(try await driver.fetch(ask).error?.code == .serverCertificateUntrusted)
        ask = Ask(nginx.https + "/hello")
        #expect(try await driver.fetch(ask).error?.code == .serverCertificateHasUnknownRoot)
        await driver.end()
    }
}
