import CarpoolSystem
import Testing

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

    @Test(
        "F14: JSON keeps its meaning, and its line ends",
        arguments: [
            ("\u{202E}", "\\u202e"), ("\u{9B}x", "\\u009bx"), ("\u{E0001}", "\\udb40\\udc01"),
            ("ü\u{2028}", "ü\\u2028"),
        ])
    func f14JSON(text: String, shown: String) {
        let escaped = PlainText.escapedJSON(Array("{\"a\":\"\(text)\"}\n".utf8))
        #expect(String(decoding: escaped, as: UTF8.self) == "{\"a\":\"\(shown)\"}\n")
    }

    @Test("Text is printable without controls, formatting characters and line separators")
    func printable() {
        #expect(PlainText.isPrintable("Grüße 漢字"))
        for text in ["\u{85}", "a\u{202E}", "\u{2028}", "\n"] { #expect(!PlainText.isPrintable(text)) }
    }
}
