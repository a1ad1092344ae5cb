/// A date in a field (RFC 9110, section 5.6.7), in the current format or one of the two obsolete ones.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let secondsOfFiftyYears: Int64 = 1_577_880_000

    /// Seconds since 1970; `nil` if the text is not a date. The weekday is not checked.
    /// - Parameter now: for two-digit years: they mean the last such year that is no more than 50 years ahead.
    static func seconds(_ text: String, now: Int64) -> Int64? {
        let parts = text.split { $0 == " " || $0 == "," || $0 == "-" }
        switch parts.count {
        case 6 where parts[5] == "GMT":
            return date(year: parts[3], month: parts[2], day: parts[1], time: parts[4], now: now)
        case 5: return date(year: parts[4], month: parts[1], day: parts[2], time: parts[3], now: now)
        default: return nil
        }
    }

    private static func date(year: Substring, month: Substring, day: Substring, time: Substring, now: Int64) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
            let second = number(clock[2], 0...60), let day = number(day, 1...31),
            let month = months.firstIndex(of: String(month)), let written = number(year, 0...9_999)
        else { return nil }
        let timeOfDay = (hour * 60 + minute) * 60 + second
        func seconds(_ year: Int64) -> Int64 { days(year, Int64(month) + 1, day) * 86_400 + timeOfDay }
        guard year.utf8.count == 2 else { return seconds(written) }
        let thisCentury = seconds(2_000 + written)
        return thisCentury &- now > secondsOfFiftyYears ? seconds(1_900 + written) : thisCentury
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(text), range.contains(value)
        else { return nil }
        return value
    }

    /// Days since 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day comes last; 400 years have 146,097 days, and
    /// 719,468 days lie between 0000-03-01 and 1970-01-01.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 + 400 : year + 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468 - 146_097
    }
}
