/// A pattern for points in time in UTC, after strftime (POSIX.1-2017): `%Y-%m-%d %H:%M:%S`.
///
/// `%Y` year of four digits, `%m` month, `%d` day, `%H` hour, `%M` minute, `%S` second, each of two digits; `%L` milliseconds of three, `%f`
/// microseconds of six digits; `%j` day of the year of three; `%s` whole seconds since 1970; `%F` is `%Y-%m-%d`, `%T` is `%H:%M:%S`, `%%` is a
/// percent sign. Everything else stands for itself. There are no names of days and months: they would depend on a language.
public struct DateFormat: Sendable, Equatable {
    /// The pattern as given.
    public let pattern: String

    /// ISO 8601's form for the internet (RFC 3339), whole seconds.
    static let internet = DateFormat(known: "%FT%TZ")

    /// Takes a pattern; `nil` if a percent sign is followed by something else than the letters above.
    public init?(_ pattern: String) {
        guard CivilTime.epoch.text(pattern) != nil else { return nil }
        self.pattern = pattern
    }

    private init(known pattern: String) { self.pattern = pattern }

    /// The text for seconds since 1970; `nil` outside the years 0 to 9999.
    public func text(forSecondsSince1970 seconds: Double) -> String? {
        CivilTime(secondsSince1970: seconds).flatMap { $0.text(pattern) }
    }
}

/// A point in time as the calendar has it, in UTC.
private struct CivilTime {
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
}
