@testable import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct DigestSessionTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private func session(_ more: String, user: String = "Mufasa") throws -> DigestSession {
        let field = "Digest realm=\"http-auth@example.org\", nonce=\"\(DigestSessionTests.nonce)\", \(more)"
        let challenge = try #require(ChallengeList.parse(Array(field.utf8)).first)
        let digest = try #require(DigestChallenge(challenge))
        let credential = PasswordCredential(user: user, password: "Circle of Life")
        return try #require(DigestSession(digest, credential) { Array(DigestSessionTests.clientNonce.utf8) })
    }

    @Test(
        "The response is that of RFC 7616, section 3.9.1, and of its formulas",
        arguments: [
            ("qop=\"auth, auth-int\", algorithm=MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("qop=\"auth, auth-int\"", "8ca523f5e9506fed4657c9700eebdbec"),
            (
                "qop=\"auth, auth-int\", algorithm=SHA-256",
                "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
            ),
            ("qop=auth, algorithm=md5-SESS", "e783283f46242139c486a698fec7211d"),
            ("qop=auth, algorithm=SHA-256-sess", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
            ("qop=auth-int", "9aaa3cbaec2406853a7cb784c6813d11"),
            ("qop=\"auth-int\", algorithm=SHA-256", "2fa9fd5a55eaefc542900085331c15a0d8dcebeb505811bdd82a5b1f49ae156e"),
            ("opaque=\"x\"", "7b2cc3b30e75b4777ea31027084363fd"),
            ("algorithm=SHA-256", "a1306b0595a6c7fe96c448631fb5cfbd5107bd1fe1da729d978dd7446b812363"),
        ])
    func vectors(_ parameters: String, _ response: String) throws {
        let body = RequestBody.bytes(Array("body".utf8))
        let value = try #require(
            try session(parameters).text(method: "GET", target: "/dir/index.html", body: body))
        #expect(value.contains("response=\"\(response)\""), "\(value)")
        #expect(value.contains("uri=\"/dir/index.html\""))
        #expect(value.contains("nc=00000001") == parameters.contains("qop"))
        #expect(value.contains("algorithm=") == parameters.contains("algorithm"))
        #expect(value.contains("opaque=\"x\"") == parameters.contains("opaque"))
    }

    @Test("Each use of a nonce has the next number; another nonce begins with 1")
    func counts() throws {
        let session = try session("qop=auth")
        for number in ["00000001", "00000002", "00000003"] {
            #expect(session.text(method: "GET", target: "/", body: .none)?.contains("nc=\(number)") == true)
        }
        session.use(nextNonce: Array(DigestSessionTests.nonce.utf8))
        #expect(session.text(method: "GET", target: "/", body: .none)?.contains("nc=00000004") == true)
        session.use(nextNonce: Array("other".utf8))
        let value = session.text(method: "GET", target: "/", body: .none)
        #expect(value?.contains("nonce=\"other\"") == true && value?.contains("nc=00000001") == true)
    }

    @Test("Quotes and backslashes are escaped, and a user is hashed if the server wants that")
    func quoting() throws {
        let value = try session("qop=auth", user: "a\"b\\c").text(method: "GET", target: "/", body: .none)
        #expect(value?.contains(#"username="a\"b\\c""#) == true)
        let hashed = try session("qop=auth, userhash=true").text(method: "GET", target: "/", body: .none)
        #expect(
            hashed?.contains("username=\"4238f3a16167373febb9bc4d43db9cc4\"") == true
                && hashed?.contains("userhash=true") == true)
    }

    @Test("What is not UTF-8 is hashed and sent back as it came")
    func otherCharsets() throws {
        let field = Array("Digest realm=\"Zug".utf8) + [0xE4] + Array("nge\", nonce=\"".utf8) + [0xFF, 0x22]
        let challenge = try #require(ChallengeList.parse(field + Array(", opaque=\"".utf8) + [0xFE, 0x22]).first)
        #expect(challenge.realm == "Zugänge")
        let digest = try #require(DigestChallenge(challenge))
        let session = try #require(DigestSession(digest, PasswordCredential(user: "ä", password: "p")))
        let value = try #require(session.value(method: "GET", target: "/", body: .none))
        let first = try #require(DigestAlgorithm.md5.hash(Array("ä:Zug".utf8) + [0xE4] + Array("nge:p".utf8)))
        let second = try #require(DigestAlgorithm.md5.hash(Array("GET:/".utf8)))
        let response = try #require(DigestAlgorithm.md5.hash(first + [0x3A, 0xFF, 0x3A] + second))
        for part in [
            Array("realm=\"Zug".utf8) + [0xE4], Array("nonce=\"".utf8) + [0xFF, 0x22],
            Array("opaque=\"".utf8) + [0xFE, 0x22], Array("response=\"".utf8) + response,
        ] {
            #expect(value.indices.contains { value[$0...].starts(with: part) })
        }
    }

    @Test(
        "A challenge that cannot be answered is none",
        arguments: [
            "Digest realm=\"r\"", "Digest nonce=\"1\", algorithm=SHA-384", "Digest nonce=\"1\", qop=\"auth-conf\"",
            "Basic nonce=\"1\"", "Digest nonce=\"\(String(repeating: "n", count: 2_049))\"",
        ])
    func unknown(_ field: String) throws {
        #expect(DigestChallenge(try #require(ChallengeList.parse(Array(field.utf8)).first)) == nil)
    }

    @Test("A body that is read while it is sent has no hash")
    func bodies() throws {
        let parse: (String) -> DigestChallenge? = {
            ChallengeList.parse(Array($0.utf8)).first.flatMap { DigestChallenge($0) }
        }
        let (both, one) = (parse("Digest nonce=1, qop=\"auth,auth-int\""), parse("Digest nonce=1, qop=auth-int"))
        let source = RequestBody.source(EmptySource())
        #expect(DigestSession.canAnswer(try #require(both), for: source))
        #expect(!DigestSession.canAnswer(try #require(one), for: source))
        #expect(DigestSession.canAnswer(try #require(one), for: .none))
    }
}

extension DigestSession {
    /// The value of the field as text.
    fileprivate func text(method: String, target: String, body: RequestBody) -> String? {
        value(method: method, target: target, body: body).map { String(decoding: $0, as: UTF8.self) }
    }
}

struct KnownSpacesTests {
    private let credential = PasswordCredential(user: "a", password: "b")

    private func remember(_ url: String, in spaces: inout KnownSpaces) throws {
        let url = try HTTPURL(url)
        spaces.remember(.basic(credential, realm: "r"), at: url.origin, url.requestTarget)
    }

    private func isKnown(_ url: String, in spaces: KnownSpaces) throws -> Bool {
        let url = try HTTPURL(url)
        return spaces.answer(at: url.origin, url.requestTarget, credential) != nil
    }

    @Test("The oldest space is forgotten, and the oldest path")
    func limits() throws {
        var spaces = KnownSpaces()
        for number in 0..<17 { try remember("http://h\(number)/", in: &spaces) }
        #expect(try !isKnown("http://h0/", in: spaces))
        #expect(try isKnown("http://h1/", in: spaces))
        for number in 0..<17 { try remember("http://p/\(number)/x", in: &spaces) }
        #expect(try !isKnown("http://p/0/y", in: spaces))
        #expect(try isKnown("http://p/16/y?z", in: spaces))
        #expect(try !isKnown("https://p/16/y", in: spaces))
        try remember("http://p/x", in: &spaces)
        #expect(try isKnown("http://p/0/y", in: spaces))
        spaces.forget(.basic(credential, realm: ""), at: try HTTPURL("http://p/").origin)
        #expect(try !isKnown("http://p/", in: spaces))
    }

    @Test("A long path is not remembered")
    func longPaths() throws {
        var spaces = KnownSpaces()
        let path = "http://h/\(String(repeating: "a", count: 2_000))/"
        try remember(path, in: &spaces)
        #expect(try !isKnown(path, in: spaces))
    }
}

private final class EmptySource: BodySource {
    let lengthBytes: Int64? = 0
    let canRestart = true
    let mayWait = false
    var onReady: () -> Void = {}

    func close() {}
    func restart() {}
    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyReading { .end }
}
