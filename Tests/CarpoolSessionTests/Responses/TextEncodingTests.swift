import CarpoolJSON
@testable import CarpoolSession
import Testing

struct TextEncodingTests {
    @Test("RS-04: the cases of charsets.jsonl, including invalid bytes")
    func vectors() throws {
        let cases = try Vectors.rows("charsets")
        #expect(cases.count >= 200)
        for json in cases {
            let encoding = try #require(TextEncoding(rawValue: json["encoding"]?.string ?? ""))
            let bytes = try #require(try json["base64"]?.withUTF8 { try Base64.decode($0) })
            // By bytes: to Swift, texts that look alike are equal.
            #expect(
                encoding.decode(bytes).map { Array($0.utf8) } == json["text"]?.string.map { Array($0.utf8) },
                "\(json["base64"]?.string ?? "") as \(encoding)")
        }
    }

    @Test("Every encoding has cases of both kinds, but ISO-8859-1, which reads anything")
    func coverage() throws {
        let cases = try Vectors.rows("charsets")
        for encoding in TextEncoding.allCases {
            let own = cases.filter { $0["encoding"]?.string == encoding.rawValue }
            #expect(own.contains { $0["text"]?.isNull == false })
            #expect(own.contains { $0["text"]?.isNull == true } == (encoding != .latin1))
        }
    }

    @Test(
        "RS-04: the charsets that the model knows, in any case",
        arguments: [
            ("utf-8", .utf8), ("UTF-8", .utf8), ("Iso-8859-1", .latin1), ("unicode-1-1", .utf16),
            ("ISO-10646-UCS-2", .utf16), ("utf-16", .utf16), ("utf-16be", .utf16BigEndian),
            ("UTF-16LE", .utf16LittleEndian), ("utf-32", .utf32), ("utf-32be", .utf32BigEndian),
            ("utf-32le", .utf32LittleEndian), ("us-ascii", nil), ("windows-1252", nil), ("utf8", nil), ("latin1", nil),
            ("koi8-r", nil), ("", nil),
        ] as [(String, TextEncoding?)])
    func modelCharsets(_ name: String, _ expected: TextEncoding?) {
        #expect(TextEncoding(modelCharset: name) == expected)
    }

    @Test(
        "The automatic choice knows more names",
        arguments: [
            ("US-ASCII", .ascii), ("ascii", .ascii), ("Windows-1252", .windows1252), ("cp1252", .windows1252),
            ("utf8", .utf8), ("latin1", .latin1), ("iso8859-1", .latin1), ("unicode-1-1", .utf16), ("koi8-r", nil),
        ] as [(String, TextEncoding?)])
    func charsets(_ name: String, _ expected: TextEncoding?) {
        #expect(TextEncoding(charset: name) == expected)
    }

    @Test("Every encoding has a distinct name on the wire")
    func names() {
        for encoding in TextEncoding.allCases { #expect(TextEncoding(charset: encoding.rawValue) == encoding) }
    }

    @Test(
        "The charset of a Content-Type",
        arguments: [
            ("text/plain", nil), ("text/plain; charset=utf-8", "utf-8"), ("text/plain;CHARSET=\"UTF-8\"", "UTF-8"),
            ("text/plain; a=\"x;charset=no\"; charset = yes ", "yes"), ("text/plain;;charset=a;charset=b", "a"),
            ("text/plain; charset=", ""), ("text/plain; charset", nil), ("charset=utf-8", nil), ("; charset=x", "x"),
            ("text/plain; notcharset=x", nil), ("text/plain; charset=\"x", "x"), ("", nil),
        ])
    func parameters(_ field: String, _ expected: String?) {
        #expect(MIMEType.charset(of: field) == expected)
    }
}
