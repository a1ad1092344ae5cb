@testable import CarpoolServer
import Testing

struct LogTests {
    @Test(
        "A value that is no word is quoted, and no unprintable character is written",
        arguments: [
            ("word", "word"), ("zwölf", "zwölf"), ("", #""""#), ("two words", #""two words""#), ("a=b", #""a=b""#),
            ("\u{1B}[2J", #""\u001b[2J""#), ("\u{9B}31m", #""\u009b31m""#), ("a\u{202E}b", #""a\u202eb""#),
            ("a\nb", #""a\nb""#), ("\u{2028}", #""\u2028""#), ("\u{7F}", #""\u007f""#),
        ])
    func quotes(value: String, written: String) {
        #expect(Log.quoted(value) == written)
    }
}
