/// Dates of fields (RFC 9110, section 5.6.7), as seconds since 1970-01-01T00:00:00Z.
enum HTTPDate {
    /// Reads one of the three formats, and no other, in any case.
    /// - Parameter now: what the two digits of a year in one of them are near to.
    static func seconds(_ text: UnsafeRawBufferPointer, near now: Int64) -> Int64? {
        guard text.count >= 24, text.count <= 33 else { return nil }
        if text[3] == UInt8(ascii: ",") { return fixed(text) }
        return text[3] == 0x20 ? asctime(text) : obsolete(text, near: now)
    }

    /// The format that is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(_ seconds: Int64) -> String {
        // Beyond the years of four digits there is no date; a clock that is set so wrong gets the nearest one.
        let seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let days = seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400)
        let time = seconds - days * 86_400
        let (year, month, day) = civil(days)
        let weekday = shortWeekdays[Int(((days + 4) % 7 + 7) % 7)]
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { digits($0, 2) }.joined(separator: ":")
        return "\(weekday), \(digits(day, 2)) \(months[Int(month) - 1]) \(digits(year, 4)) \(clock) GMT"
    }

    private static let weekdays: [StaticString] = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]
    private static let shortWeekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdayKeys = shortWeekdays.map { Array($0.utf8).withUnsafeBytes { key($0, 0) } }
    private static let monthKeys = months.map { Array($0.utf8).withUnsafeBytes { key($0, 0) } }

    /// Three letters as a number, without case.
    private static func key(_ text: UnsafeRawBufferPointer, _ start: Int) -> UInt32 {
        (0..<3).reduce(0) { $0 << 8 | UInt32(FieldBytes.lowered(text[start + $1])) }
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func fixed(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count == 29, weekdayKeys.contains(key(text, 0)), hasBlanks(text, [4, 7, 11, 16, 25]),
            isGMT(text, 26), let day = number(text, 5, 2), let month = month(text, 8), let year = number(text, 12, 4)
        else { return nil }
        return seconds(year, month, day, text, clock: 17)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func obsolete(_ text: UnsafeRawBufferPointer, near now: Int64) -> Int64? {
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")), text.count == comma + 24,
            isWeekday(UnsafeRawBufferPointer(rebasing: text[..<comma])),
            hasBlanks(text, [comma + 1, comma + 11, comma + 20]),
            text[comma + 4] == UInt8(ascii: "-"), text[comma + 8] == UInt8(ascii: "-"), isGMT(text, comma + 21),
            let day = number(text, comma + 2, 2), let month = month(text, comma + 5),
            let short = number(text, comma + 9, 2)
        else { return nil }
        // A year more than 50 years ahead is one of the past (RFC 9110, section 5.6.7).
        let current = civil(max(0, now) / 86_400).year
        var year = current - current % 100 + short
        if year > current + 50 { year -= 100 }
        if year <= current - 50 { year += 100 }
        return seconds(year, month, day, text, clock: comma + 12)
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static func asctime(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count == 24, weekdayKeys.contains(key(text, 0)), hasBlanks(text, [3, 7, 10, 19]),
            let month = month(text, 4), let day = text[8] == 0x20 ? number(text, 9, 1) : number(text, 8, 2),
            let year = number(text, 20, 4)
        else { return nil }
        return seconds(year, month, day, text, clock: 11)
    }

    private static func seconds(
        _ year: Int64, _ month: Int64, _ day: Int64, _ text: UnsafeRawBufferPointer, clock: Int
    ) -> Int64? {
        let colon = UInt8(ascii: ":")
        guard text[clock + 2] == colon, text[clock + 5] == colon, let hour = number(text, clock, 2),
            let minute = number(text, clock + 3, 2), let second = number(text, clock + 6, 2), hour < 24, minute < 60,
            second <= 60, day >= 1, day <= length(of: month, year)
        else { return nil }
        return days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func isWeekday(_ name: UnsafeRawBufferPointer) -> Bool {
        weekdays.contains { FieldBytes.matches(name, $0) }
    }

    private static func month(_ text: UnsafeRawBufferPointer, _ start: Int) -> Int64? {
        monthKeys.firstIndex(of: key(text, start)).map { Int64($0 + 1) }
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int64? {
        DeltaSeconds.number(UnsafeRawBufferPointer(rebasing: text[start..<(start + count)]), maximum: 9_999)
    }

    private static func hasBlanks(_ text: UnsafeRawBufferPointer, _ positions: [Int]) -> Bool {
        positions.allSatisfy { text[$0] == 0x20 }
    }

    private static func isGMT(_ text: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        FieldBytes.matches(UnsafeRawBufferPointer(rebasing: text[start..<(start + 3)]), "gmt")
    }

    private static func length(of month: Int64, _ year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 to a day. Years begin in March, so that the day of the leap year is the last one.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let monthOfYear = (month + 9) % 12
        let dayOfYear = (153 * monthOfYear + 2) / 5 + day - 1
        let leaps = floored(shifted, 4) - floored(shifted, 100) + floored(shifted, 400)
        return shifted * 365 + leaps + dayOfYear - 719_468
    }

    /// The day that is so many days after 1970-01-01.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floored(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthOfYear = (5 * dayOfYear + 2) / 153
        let month = monthOfYear < 10 ? monthOfYear + 3 : monthOfYear - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthOfYear + 2) / 5 + 1)
    }

    private static func floored(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
    }
}
