/// Parses durations.
enum TimeSpan {
    /// The maximum in seconds: a year. The daemon may have a lower limit.
    private static let mostSeconds = 31_536_000.0

    /// Parses the value of `--timeout`, a number of seconds above 0; returns milliseconds.
    static func milliseconds(_ text: String) throws(UsageError) -> Int {
        let isNumber = text.utf8.allSatisfy {
            $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        guard isNumber, let seconds = Double(text), seconds > 0, seconds <= mostSeconds else {
            throw UsageError("--timeout takes a number of seconds above 0, not '\(text)'")
        }
        return Int((seconds * 1_000).rounded(.up))
    }
}
