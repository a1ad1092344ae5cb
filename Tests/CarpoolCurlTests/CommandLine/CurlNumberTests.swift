import Testing

@testable import CarpoolCurl

/// The expectations are what curl 8.14.1 accepts and prints.
struct CurlNumberTests {
    /// The number, or the message of the error.
    private static func outcome<Number>(_ read: () throws(CurlError) -> Number) -> String {
        do throws(CurlError) { return "\(try read())" } catch {
            return (error.warnings + [error.message]).joined(separator: "|")
        }
    }

    private static let bad = "expected a proper numerical parameter"
    private static let negative = "expected a positive numerical parameter"
    private static let large = "too large number"

    @Test(
        "-m and --connect-timeout: what follows the number does not count",
        arguments: [
            ("0", "0"), ("1", "1000"), ("1.5", "1500"), ("1.05", "1050"), ("1.9999", "1999"), ("1x", "1000"),
            ("1.5.5", "1500"), ("1 ", "1000"), ("0x10", "0"), ("2147484", "2147483647"), ("", bad), (".5", bad),
            ("-1", bad), ("-0", bad), ("+1", bad), (" 1", bad), ("x", bad), ("9223372036854775807", bad),
            ("99999999999999999999999", bad), ("1.", large), ("1.x", large), ("1.99999999999999999999", large),
        ])
    func milliseconds(_ text: String, _ expected: String) {
        #expect(Self.outcome { () throws(CurlError) in try CurlNumber.milliseconds(text) } == expected)
    }

    @Test(
        "--retry-delay and --retry-max-time are whole seconds",
        arguments: [
            ("0", "0"), ("2", "2000"), ("-0", "0"), ("99999999999", "2147483000"), ("1.5", bad), ("1x", bad),
            ("9223372036854775", "2147483000"), ("9223372036854776", large),
            ("-1", negative), ("-0.5", bad), ("", bad), ("99999999999999999999999", bad),
        ])
    func seconds(_ text: String, _ expected: String) {
        #expect(Self.outcome { () throws(CurlError) in try CurlNumber.seconds(text) } == expected)
    }

    @Test(
        "--retry, -y, -Y and --parallel-max",
        arguments: [
            ("0", "0"), ("007", "7"), ("-0", "0"), ("-2", negative), ("--", bad), ("1 ", bad), ("+1", bad), ("", bad),
            ("99999999999999999999999", bad),
        ])
    func positive(_ text: String, _ expected: String) {
        #expect(Self.outcome { () throws(CurlError) in try CurlNumber.positive(text) } == expected)
    }

    @Test("--max-redirs", arguments: [("-1", "-1"), ("-0", "0"), ("5", "5"), ("-2", bad), ("-0x", bad), ("", bad)])
    func orMinusOne(_ text: String, _ expected: String) {
        #expect(Self.outcome { () throws(CurlError) in try CurlNumber.orMinusOne(text) } == expected)
    }

    @Test(
        "--limit-rate and --max-filesize",
        arguments: [
            ("10", "10"), ("1b", "1"), ("1k", "1024"), ("2M", "2097152"), ("1G", "1073741824"),
            ("1kb", "unsupported rate unit. Use G, M, K or B|is badly used here"),
            ("1.5k", "unsupported rate unit. Use G, M, K or B|is badly used here"),
            ("", "invalid number specified for rate|is badly used here"),
            ("-1", "invalid number specified for rate|is badly used here"),
            ("99999999999999999999999", "invalid number specified for rate|is badly used here"),
            ("9999999999G", large),
        ])
    func size(_ text: String, _ expected: String) {
        #expect(Self.outcome { () throws(CurlError) in try CurlNumber.size(text, of: "rate") } == expected)
    }

    @Test(
        "--rate",
        arguments: [
            ("2/s", "500"), ("1", "3600000"), ("1/5m", "300000"), ("3/d", "28800000"), ("0", "is badly used here"),
            ("-0/s", "is badly used here"), ("2/0s", large), ("1000/s", "1"), ("1001/s", large), ("1001", "3596"),
            ("3600000", "1"), ("3600001", large), ("60001/m", large), ("-1", negative), ("x", bad), ("/s", bad),
            ("2/x", "is badly used here"), ("2/", "is badly used here"), ("2/1", "is badly used here"),
            ("1/s:", "1000"), ("2/9999999999d", "431999999956800000"), ("2/999999999999999d", large),
            ("1/99999999999999999999s", "is badly used here"), ("12345678901234567890123456", large),
            ("1234567890123456789012345", bad),
        ])
    func rate(_ text: String, _ expected: String) {
        #expect(Self.outcome { () throws(CurlError) in try CurlNumber.rate(text) } == expected)
    }

    @Test(
        "--create-file-mode",
        arguments: [
            ("644", "420"), ("0777", "511"), ("1000", large), ("888", bad), ("+1", bad), ("-0", bad), ("", bad),
        ])
    func mode(_ text: String, _ expected: String) {
        #expect(Self.outcome { () throws(CurlError) in try CurlNumber.mode(text) } == expected)
    }
}
