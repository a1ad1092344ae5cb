/// Spans of time as they are typed.
enum TimeSpan {
    /// The longest time that is accepted, in seconds: a year. What the daemon accepts is its own affair.
    private static let mostSeconds = 31_536_000.0

    /// The value of `--timeout` in milliseconds: a number of seconds above 0, with decimals or without.
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
