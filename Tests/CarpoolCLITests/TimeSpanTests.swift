import CarpoolCaller
import Testing

@testable import CarpoolCLI

/// Spans of time on the command line.
struct TimeSpanTests {
    @Test(
        "Timeouts are seconds, or have a unit",
        arguments: [
            ("10", 10_000), ("2.5", 2_500), (".5", 500), ("0.0001", 1), ("10s", 10_000), ("500ms", 500),
            ("2m", 120_000),
            ("1.5h", 5_400_000), ("365d", 31_536_000_000),
        ])
    func timeouts(_ text: String, _ expected: Int) throws {
        #expect(try TimeSpan.milliseconds(text) == expected)
    }

    @Test(arguments: ["", "0", "0s", "-1", "+1", "1x", "1 s", "s", "1e3", "366d", "nan", "1S", "1,5"])
    func otherTextIsRefusedWithTheOption(_ text: String) {
        let error = #expect(throws: UsageError.self) { try TimeSpan.timeout(text, of: "--max-time") }
        #expect(error?.message.hasPrefix("--max-time takes a number of seconds above 0, or a span such as") == true)
        #expect(error?.message.hasSuffix(", not '\(text)'") == true)
    }
}
