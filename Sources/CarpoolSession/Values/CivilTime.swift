internal import CarpoolSystem

/// A point in time as calendar date and time, in UTC.
struct CivilTime {
    /// The first second of the year 0 and of the year 10000.
    private static let range = -62_167_219_200.0..<253_402_300_800.0

    static let epoch = CivilTime(seconds: 0, microsecond: 0)

    private let seconds: Int
    private let microsecond: Int
    private let date: CivilDate
    private let second: Int

    /// Rounds to the microsecond.
    init?(secondsSince1970 value: Double) {
        guard CivilTime.range.contains(value) else { return nil }
        let whole = value.rounded(.down)
        let microseconds = ((value - whole) * 1_000_000).rounded()
        let carry = microseconds >= 1_000_000
        let rounded = carry ? whole + 1 : whole
        guard CivilTime.range.contains(rounded) else { return nil }
        self.init(seconds: Int(rounded), microsecond: carry ? 0 : Int(microseconds))
    }

    private init(seconds: Int, microsecond: Int) {
        self.seconds = seconds
        self.microsecond = microsecond
        let (days, second) = CivilDate.split(secondsSince1970: seconds)
        date = CivilDate(daysSince1970: days)
        self.second = second
    }

    func text(_ pattern: String) -> String? {
        var output = ""
        var rest = pattern.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                output.unicodeScalars.append(scalar)
                continue
            }
            guard let letter = rest.popFirst(), let field = field(letter) else { return nil }
            output += field
        }
        return output
    }

    private func field(_ letter: Unicode.Scalar) -> String? {
        switch letter {
        case "Y": return padded(date.year, 4)
        case "m": return padded(date.month, 2)
        case "d": return padded(date.day, 2)
        case "H": return padded(second / 3_600, 2)
        case "M": return padded(second / 60 % 60, 2)
        case "S": return padded(second % 60, 2)
        case "L": return padded(microsecond / 1_000, 3)
        case "f": return padded(microsecond, 6)
        case "j": return padded(date.dayOfYear, 3)
        case "s": return seconds.description
        case "F": return text("%Y-%m-%d")
        case "T": return text("%H:%M:%S")
        case "%": return "%"
        default: return nil
        }
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let text = number.description
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    /// Seconds since 1970 for ISO 8601's form for the internet in UTC (RFC 3339), with or without a fraction; `nil` for
    /// any other text.
    static func seconds(_ text: String) -> Double? {
        var rest = text.utf8[...]
        guard let year = number(&rest, 4, before: "-"), let month = number(&rest, 2, before: "-"),
            let day = number(&rest, 2, before: "T"), let hour = number(&rest, 2, before: ":"),
            let minute = number(&rest, 2, before: ":"), let second = number(&rest, 2, before: nil),
            1...12 ~= month, 1...31 ~= day, hour < 24, minute < 60, second <= 60, rest.popLast() == UInt8(ascii: "Z")
        else { return nil }
        let hasFraction = rest.first == UInt8(ascii: ".") && rest.count > 1
        guard rest.isEmpty || hasFraction, rest.dropFirst().allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
            let fraction = Double("0\(Substring(rest))")
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        return Double(days * CivilDate.secondsPerDay + hour * 3_600 + minute * 60 + second) + fraction
    }

    private static func number(_ text: inout Substring.UTF8View, _ width: Int, before mark: Unicode.Scalar?) -> Int? {
        let digits = text.prefix(width)
        guard digits.count == width, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        text = text.dropFirst(width)
        if let mark { guard text.popFirst() == UInt8(ascii: mark) else { return nil } }
        return digits.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
    }
}
