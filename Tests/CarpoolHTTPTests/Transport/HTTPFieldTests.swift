import Testing

@testable import CarpoolHTTP

struct HTTPFieldTests {
    @Test(arguments: [
        "Connection", "content-length", "EXPECT", "HTTP2-Settings", "keep-alive", "Proxy-Authorization",
        "proxy-connection", "TE", "trailer", "Transfer-Encoding", "upgrade",
    ]) func refusesTheConnectionsOwnFields(name: String) {
        #expect(throws: HTTPField.Refusal.self) { try HTTPField(name: name, value: "x") }
    }

    @Test(arguments: ["", "a b", "a:", ":path", "a\r\nb", "ä", "a\0", "(", "a\"b"])
    func refusesNamesThatAreNoTokens(name: String) {
        #expect(throws: HTTPField.Refusal.self) { try HTTPField(name: name, value: "x") }
    }

    @Test(arguments: ["a\r\nX: y", "a\nb", "a\rb", "a\0b", "\u{7F}", "a\u{1}"])
    func refusesValuesThatCouldBecomeOtherFields(value: String) {
        #expect(throws: HTTPField.Refusal.self) { try HTTPField(name: "A", value: value) }
    }

    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("  blanks \t", "blanks"), ("in\tner  one", "in\tner  one"), ("ü", "ü"),
        ("  ", ""),
    ]) func takesOffBlanksAtTheEnds(given: String, kept: String) throws {
        #expect(try HTTPField(name: "X-Any", value: given).value == kept)
    }

    @Test(
        arguments: [
            ("X", "v", "v", "v"), ("X", "  v\t", "v", "  v\t"), ("X", " \t", "", nil),
            ("Transfer-Encoding", "chunked", "chunked", "chunked"), ("Transfer-Encoding", "\tchunked", "chunked", nil),
        ] as [(String, String, String, String?)])
    func keepsTheBlanksBehindAColon(name: String, given: String, value: String, sent: String?) throws {
        let field = try HTTPField(ofConnection: name, behindColon: given)
        #expect((field.name, field.value) == (name, value))
        #expect(field.text == sent.map { Array($0.utf8) })
    }

    @Test func namesAreComparedWithoutCase() throws {
        let field = try HTTPField(name: "Content-TYPE", value: "x")
        #expect(field.isNamed("content-type"))
        #expect(!field.isNamed("content-typ"))
        #expect(!field.isNamed("content_type"))
    }

    @Test func methodsAreTokens() {
        for bad in ["", "GE T", "GET\r\nX: y", "CONNECT", "G\0T"] { #expect(HTTPMethod(bad) == nil) }
        for good in ["GET", "PROPFIND", "patch", "M-SEARCH"] { #expect(HTTPMethod(good)?.rawValue == good) }
        #expect(HTTPMethod("DELETE")?.isIdempotent == true)
        #expect(HTTPMethod("POST")?.isIdempotent == false)
        #expect(HTTPMethod("PATCH")?.isIdempotent == false)
    }
}
