import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct HTTPHeadersTests {
    private static func headers(_ pairs: (String, String)...) throws -> HTTPHeaders {
        HTTPHeaders(try pairs.map { try HTTPField(name: $0.0, value: $0.1) })
    }

    @Test("HH-01: one place for a name, the last spelling and value")
    func updates() throws {
        var headers = try Self.headers(("b", "1"), ("A", "2"), ("B", "3"))
        #expect(headers.description == "B: 3\nA: 2")
        #expect(headers["a"] == "2")
        try headers.update(name: "a", value: "4")
        try headers.add(name: "c", value: "5")
        headers.add(try .accept("x"))
        headers.update(try HTTPField(name: "C", value: "6"))
        #expect(headers.description == "B: 3\na: 4\nC: 6\nAccept: x")
        #expect(headers.sorted().map(\.name) == ["a", "Accept", "B", "C"])
        headers.sort()
        headers.remove(name: "ACCEPT")
        headers.remove(name: "none")
        #expect(headers.map(\.value) == ["4", "3", "6"])
        #expect(headers["accept"] == nil)
        #expect(try headers == Self.headers(("a", "4"), ("B", "3"), ("C", "6")))
        #expect(throws: HTTPField.Refusal.self) { try headers.update(name: "a", value: "\r\n") }
        #expect(HTTPHeaders().isEmpty)
    }

    @Test("HH-03 to HH-05: fields by their purpose")
    func factories() throws {
        let fields = [
            try HTTPField.accept("a"), try .acceptCharset("a"), try .acceptLanguage("a"), try .acceptEncoding("a"),
            try .authorization(user: "user", password: "password"), try .authorization(bearerToken: "t"),
            try .authorization("a"),
            try .contentDisposition("a"), try .contentEncoding("a"), try .contentType("a"), try .userAgent("a"),
            try .websocketProtocol("a"),
        ]
        #expect(
            fields.map(\.name) == [
                "Accept", "Accept-Charset", "Accept-Language", "Accept-Encoding", "Authorization", "Authorization",
                "Authorization",
                "Content-Disposition", "Content-Encoding", "Content-Type", "User-Agent", "Sec-WebSocket-Protocol",
            ])
        #expect(fields[4].value == "Basic dXNlcjpwYXNzd29yZA==")
        #expect(fields[5].value == "Bearer t")
        #expect(throws: HTTPField.Refusal.self) { try HTTPField.authorization(bearerToken: "a\nb") }
    }
}
