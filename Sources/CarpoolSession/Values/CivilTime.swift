/// A point in time as calendar date and time, in UTC.
struct CivilTime {
    private static let secondsPerDay = 86_400
    /// The first second of the year 0 and of the year 10000.
    private static let range = -62_167_219_200.0..<253_402_300_800.0

    static let epoch = CivilTime(seconds: 0, microsecond: 0)

    private let seconds: Int
    private let microsecond: Int
    private let year: Int
    private let month: Int
    private let day: Int
    private let dayOfYear: Int

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

    /// The date by Howard Hinnant's civil_from_days, which counts years from March in eras of 400. Within ``range`` nothing can overflow.
    private init(seconds: Int, microsecond: Int) {
        self.seconds = seconds
        self.microsecond = microsecond
        let day = CivilTime.floored(seconds, by: CivilTime.secondsPerDay)
        let shifted = day + 719_468
        let era = CivilTime.floored(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayFromMarch = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayFromMarch + 2) / 153
        self.day = dayFromMarch - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        dayOfYear = month <= 2 ? dayFromMarch - 305 : dayFromMarch + (isLeap ? 61 : 60)
    }

    private static func floored(_ number: Int, by divisor: Int) -> Int {
        number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
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
        let second = seconds - CivilTime.floored(seconds, by: CivilTime.secondsPerDay) * CivilTime.secondsPerDay
        switch letter {
        case "Y": return padded(year, 4)
        case "m": return padded(month, 2)
        case "d": return padded(day, 2)
        case "H": return padded(second / 3_600, 2)
        case "M": return padded(second / 60 % 60, 2)
        case "S": return padded(second % 60, 2)
        case "L": return padded(microsecond / 1_000, 3)
        case "f": return padded(microsecond, 6)
        case "j": return padded(dayOfYear, 3)
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

    /// Seconds since 1970 for ISO 8601's form for the internet in UTC (RFC 3339), with or without a fraction; `nil` for any other text.
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
        let shifted = month <= 2 ? year - 1 : year
        let era = floored(shifted, by: 400)
        let dayFromMarch = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let yearOfEra = shifted - era * 400
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayFromMarch
        let days = era * 146_097 + dayOfEra - 719_468
        return Double(days * secondsPerDay + hour * 3_600 + minute * 60 + second) + fraction
    }

    private static func number(_ text: inout Substring.UTF8View, _ width: Int, before mark: Unicode.Scalar?) -> Int? {
        let digits = text.prefix(width)
        guard digits.count == width, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
        text = text.dropFirst(width)
        if let mark { guard text.popFirst() == UInt8(ascii: mark) else { return nil } }
        return digits.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
    }
}
