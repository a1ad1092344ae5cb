internal import CarpoolSystem

/// A date in a field (RFC 9110, section 5.6.7), in the current format or one of the two obsolete ones.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// The most bytes of a date, with blanks between its parts: longer texts are not read character by character.
    private static let maximumBytes = 128
    private static let secondsOfFiftyYears: Int64 = 1_577_880_000

    /// Seconds since 1970; `nil` if the text is not a date. The weekday is not checked.
    /// - Parameter now: for two-digit years: they mean the last such year that is no more than 50 years ahead.
    static func seconds(_ text: String, now: Int64) -> Int64? {
        guard text.utf8.count <= maximumBytes else { return nil }
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
        func seconds(_ year: Int) -> Int64 {
            let days = CivilDate(year: year, month: month + 1, day: day).daysSince1970
            return Int64(days * CivilDate.secondsPerDay + timeOfDay)
        }
        guard year.utf8.count == 2 else { return seconds(written) }
        let thisCentury = seconds(2_000 + written)
        return thisCentury - now > secondsOfFiftyYears ? seconds(1_900 + written) : thisCentury
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text), range.contains(value)
        else { return nil }
        return value
    }
}
