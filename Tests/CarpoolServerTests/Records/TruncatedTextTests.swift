@testable import CarpoolServer
import Testing

struct TruncatedTextTests {
    @Test(
        arguments: [
            ("", 0, ""), ("abc", 3, "abc"), ("abcd", 3, "abc..."), ("aéb", 2, "a..."), ("aéb", 3, "aé..."),
            ("é", 1, "..."),
            ("😀😀", 7, "😀..."), ("e\u{301}\u{301}\u{301}", 3, "e\u{301}..."),
        ])
    func cut(_ text: String, _ bytes: Int, _ expected: String) {
        #expect(Array(TruncatedText.of(text, bytes: bytes).utf8) == Array(expected.utf8))
    }
}
