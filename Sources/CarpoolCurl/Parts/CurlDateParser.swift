internal import CarpoolSystem

/// Reads the parts of a date in any order: a day, the name of a month, a year, a time, a zone, and a day of the week.
struct CurlDateParser {
    private let bytes: [UInt8]
    private var index = 0
    private var month: Int?
    private var day: Int?
    private var year: Int?
    private var second: Int?
    /// Seconds that are added to get UTC.
    private var zone: Int?
    private var hasWeekday = false
    /// Whether the next number is a year.
    private var expectsYear = false

    /// A date has no more parts; the rest is not read.
    private static let maximumParts = 6
    /// No name is longer.
    private static let maximumNameBytes = 11
    private static let maximumNumber = 99_999_999
    /// The year after the introduction of the Gregorian calendar.
    private static let firstYear = 1_583

    init(_ text: String) { bytes = Array(text.utf8) }

    private var byte: UInt8 { index < bytes.count ? bytes[index] : 0 }

    mutating func parse() -> Int64? {
        var parts = 0
        while index < bytes.count, parts < CurlDateParser.maximumParts {
            while index < bytes.count, !byte.isLetter, !byte.isDigit { index += 1 }
            if byte.isLetter {
                guard readName() else { return nil }
            } else if byte.isDigit {
                guard second == nil && readTime() || readNumber() else { return nil }
            }
            parts += 1
        }
        guard let day, let month, let year, year >= CurlDateParser.firstYear, day <= 31, month < 12 else { return nil }
        // Days that a month lacks are those of the next one.
        let days = CivilDate(year: year, month: month + 1, day: 1).daysSince1970 + day - 1
        let seconds = Int64(days * CivilDate.secondsPerDay + (second ?? 0) + (zone ?? 0))
        // curl uses -1 for an error.
        return seconds == -1 ? 0 : seconds
    }

    private mutating func readName() -> Bool {
        let letters = bytes[index...].prefix(while: \.isLetter)
        guard letters.count <= CurlDateParser.maximumNameBytes else { return false }
        index += letters.count
        let word = letters.text
        if !hasWeekday, CurlDateNames.isWeekday(word) {
            hasWeekday = true
        } else if month == nil, let number = CurlDateNames.month(word) {
            month = number
        } else if zone == nil, let minutes = CurlDateNames.zone(word) {
            zone = minutes * 60
        } else {
            return false
        }
        return true
    }

    /// A number of one or two digits at a place, and the place after it.
    private func shortNumber(at place: Int) -> (number: Int, end: Int)? {
        let digits = bytes[min(place, bytes.count)...].prefix(2).prefix(while: \.isDigit)
        return Int(digits.text).map { ($0, place + digits.count) }
    }

    /// `HH:MM` or `HH:MM:SS`
    private mutating func readTime() -> Bool {
        let start = index
        func isColon(_ place: Int) -> Bool { place < bytes.count && bytes[place] == UInt8(ascii: ":") }
        guard let hour = shortNumber(at: index), hour.number < 24, isColon(hour.end),
            let minute = shortNumber(at: hour.end + 1), minute.number < 60
        else { return false }
        second = (hour.number * 60 + minute.number) * 60
        index = minute.end
        if isColon(minute.end), let seconds = shortNumber(at: minute.end + 1) {
            guard seconds.number <= 60 else {
                second = nil
                index = start
                return false
            }
            second = (hour.number * 60 + minute.number) * 60 + seconds.number
            index = seconds.end
        }
        return true
    }

    private mutating func readNumber() -> Bool {
        let digits = bytes[index...].prefix(while: \.isDigit)
        guard let number = Int(digits.text), number <= CurlDateParser.maximumNumber else { return false }
        let sign = index > 0 ? bytes[index - 1] : 0
        index += digits.count
        if zone == nil, digits.count == 4, number <= 1_400, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            let offset = (number / 100 * 60 + number % 100) * 60
            zone = sign == UInt8(ascii: "+") ? -offset : offset
            return true
        }
        if digits.count == 8, year == nil, month == nil, day == nil {
            (year, month, day) = (number / 10_000, number % 10_000 / 100 - 1, number % 100)
            return month != -1
        }
        return takeDay(number) || takeYear(number)
    }

    private mutating func takeDay(_ number: Int) -> Bool {
        guard !expectsYear, day == nil else { return false }
        expectsYear = true
        guard (1...31).contains(number) else { return false }
        day = number
        return true
    }

    private mutating func takeYear(_ number: Int) -> Bool {
        guard expectsYear, year == nil else { return false }
        year = number < 100 ? number + (number > 70 ? 1_900 : 2_000) : number
        if day == nil { expectsYear = false }
        return true
    }
}
