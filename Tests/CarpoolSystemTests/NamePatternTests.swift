import CarpoolSystem
import Testing

struct NamePatternTests {
    @Test(
        "A star stands for any characters, and nothing else is special",
        arguments: [
            ("*", true), ("request.did_finish", true), ("request.*", true), ("*.did_finish", true), ("*did*", true),
            ("r*t.did_f*h", true), ("**", true), ("request.did_finish*", true), ("*h", true),
            ("request.did_finis", false),
            ("request", false), ("equest.*", false), ("*.did_finis", false), ("request.did_finish?", false),
            ("request.did_finis?", false), ("REQUEST.*", false), ("", false), ("*x*", false), ("re*re*", false),
            ("*i*i*i*i*", false), ("*i*i*i*", true),
        ])
    func globs(_ pattern: String, _ matches: Bool) {
        #expect(NamePattern.matches("request.did_finish", pattern) == matches)
    }

    @Test(
        "Names are compared byte by byte, and a name may be empty or have stars",
        arguments: [
            ("", "", true), ("", "*", true), ("", "***", true), ("", "a", false), ("*", "*", true), ("a*", "a*", true),
            ("wlan0", "wl*", true), ("wlp3s0", "wl*", true), ("eth0", "wl*", false), ("br-äöü", "br-*ü", true),
            ("aaab", "*aab", true), ("abcabd", "*abd", true),
        ])
    func names(_ name: String, _ pattern: String, _ matches: Bool) {
        #expect(NamePattern.matches(name, pattern) == matches)
    }

    @Test("Many stars take no exponential time", .timeLimit(.minutes(1)))
    func manyStars() {
        let name = String(repeating: "a", count: 2_000)
        #expect(!NamePattern.matches(name, String(repeating: "*a", count: 500) + "b"))
    }
}
