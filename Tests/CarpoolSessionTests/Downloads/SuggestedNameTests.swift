import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct SuggestedNameTests {
    private func name(_ disposition: String?, _ url: String? = "http://a.test/x/y.bin?q=/z#/w") -> String {
        SuggestedName(.make(200, disposition.map { [("Content-Disposition", $0)] } ?? []), url: url).text
    }

    @Test(
        "RFC 6266",
        arguments: [
            ("attachment; filename=\"a b.txt\"", "a b.txt"), ("attachment;filename=a.txt", "a.txt"),
            ("attachment; FileName=a.txt", "a.txt"), ("inline; filename=\"a;b\\\"c\"", "a;b\"c"),
            ("attachment; filename=plain; filename*=utf-8'en'%c3%a9.txt", "é.txt"),
            ("attachment; filename*=iso-8859-1''%e9; filename=plain", "plain"),
            ("attachment; filename*=UTF-8''%ff; filename=plain", "plain"),
            ("attachment; filename=\"unclosed", "unclosed"), ("attachment", "y.bin"), ("", "y.bin"),
            ("attachment; filename=\"\"", "y.bin"), ("attachment; filename=\"/\"", "y.bin"),
        ])
    func disposition(_ text: String, _ expected: String) { #expect(name(text) == expected) }

    @Test(
        "No name leads elsewhere, hides, or garbles a terminal",
        arguments: [
            ("../../etc/passwd", "passwd"), ("..", "y.bin"), ("...", "y.bin"), (".profile", "profile"),
            ("a/b\\\\c", "c"), ("a\u{1B}[31m", "a[31m"), ("a\u{9B}b", "ab"), ("a   ", "a"), (" a", "a"),
        ])
    func safety(_ text: String, _ expected: String) { #expect(name("attachment; filename=\"\(text)\"") == expected) }

    @Test(
        "The last part of a URL",
        arguments: [
            ("http://a.test/", "download"), ("http://a.test", "download"), ("http://a.test?x=/y", "download"),
            ("http://a.test/a%20b", "a b"), ("http://a.test/%2e%2e", "download"), ("http://a.test/x%2Fy", "y"),
            ("http://a.test/%zz", "%zz"), ("http://a.test/a/", "download"),
        ])
    func url(_ url: String, _ expected: String) { #expect(name(nil, url) == expected) }

    @Test("255 bytes, without a broken character")
    func length() {
        let long = name("attachment; filename=\"\(String(repeating: "ä", count: 200))\"")
        #expect(long == String(repeating: "ä", count: 127))
        let flags = name("attachment; filename=\"\(String(repeating: "\u{1F1E6}", count: 5_000))\"")
        #expect(flags == String(repeating: "\u{1F1E6}", count: 62))
    }
}
