internal import CarpoolCaller

/// Parses and formats durations.
enum TimeSpan {
    /// The maximum in seconds: a year. The daemon may have a lower limit.
    private static let mostSeconds = 31_536_000.0
    /// The units of a span with the milliseconds of each, the longest first.
    private static let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)]

    /// Parses the value of `--timeout`: a number of seconds above 0, or a span such as `500ms`, `10s` or `2m`; returns
    /// milliseconds.
    static func milliseconds(_ text: String) throws(UsageError) -> Int {
        try timeout(text, of: "--timeout")
    }

    /// Parses the value of an option of this kind with another name.
    static func timeout(_ text: String, of option: StaticString) throws(UsageError) -> Int {
        guard let span = parse(text), span > 0 else {
            throw UsageError(
                "\(option) takes a number of seconds above 0, or a span such as 500ms, 10s or 2m, not '\(text)'")
        }
        return span
    }

    /// Parses a span such as `90`, `1.5s`, `10m`, `2h` or `7d`; without a unit it is seconds. Returns milliseconds.
    static func span(_ text: String, of option: String) throws(UsageError) -> Int {
        guard let span = parse(text) else {
            throw UsageError(
                "\(option) takes a span of up to a year such as 90s, 10m, 2h or 7d, not '\(text)'")
        }
        return span
    }

    /// The milliseconds of a span of at most a year; `nil` for other text.
    private static func parse(_ text: String) -> Int? {
        let digits = text.prefix { !$0.isLetter }
        let unit = text[digits.endIndex...]
        let scale = unit.isEmpty ? 1_000 : units.first { $0.0.utf8.elementsEqual(unit.utf8) }?.1
        guard let scale, isNumber(digits), let number = Double(digits), number * Double(scale) <= mostSeconds * 1_000
        else { return nil }
        return Int((number * Double(scale)).rounded(.up))
    }

    private static func isNumber(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }

    /// A span in its longest unit of which there are at least two, such as `90 s`, `15 m` or `3 d`; without its sign.
    static func text(milliseconds: Int64) -> String {
        let span = milliseconds.magnitude
        let unit = units.first { span >= 2 * UInt64($0.1) } ?? ("ms", 1)
        return "\(span / UInt64(unit.1)) \(unit.0)"
    }
}
