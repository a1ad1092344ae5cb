import CarpoolJSON
import Testing

@testable import CarpoolCaller

struct PlainTextTests {
    @Test(
        "F14: all but printable characters are escaped",
        arguments: [
            ("plain text", "plain text"), ("Grüße 漢字 e\u{301}", "Grüße 漢字 e\u{301}"), ("\u{1B}[2J", "\\u{1b}[2J"),
            ("\u{9B}31m", "\\u{9b}31m"), ("\u{202E}\u{2066}\u{200F}", "\\u{202e}\\u{2066}\\u{200f}"),
            ("a\nb\r\t", "a\\u{a}b\\u{d}\\u{9}"),
            ("\u{2028}\u{7F}\u{0}", "\\u{2028}\\u{7f}\\u{0}"), ("\u{E000}\u{FFFF}", "\\u{e000}\\u{ffff}"), ("", ""),
        ])
    func f14Escapes(text: String, shown: String) {
        #expect(PlainText.escaped(text) == shown)
    }

    @Test("F14: JSON keeps its meaning", arguments: ["\u{202E}", "\u{9B}x", "\u{E0001}", "ü\u{2028}"])
    func f14JSON(text: String) throws {
        let json = Array("{\"a\":\"\(text)\"}\n".utf8)
        let escaped = PlainText.escapedJSON(json)
        #expect(escaped != json && escaped.last == 0x0A)
        #expect(try JSON.parse(escaped)["a"]?.string == text)
    }
}
