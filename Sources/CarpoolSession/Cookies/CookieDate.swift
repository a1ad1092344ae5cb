internal import CarpoolSystem

/// The date of the attribute `Expires` (RFC 6265bis, section 5.1.1): the parts of a date in any order.
struct CookieDate {
    private var time: (hour: Int, minute: Int, second: Int)?
    private var day: Int?
    private var month: Int?
    private var year: Int?

    /// Seconds since 1970; `nil` if the text is not a date.
    static func seconds(_ text: ArraySlice<UInt8>) -> Int64? {
        var date = CookieDate()
        for token in text.split(whereSeparator: isDelimiter) { date.read(token) }
        return date.seconds
    }

    private mutating func read(_ token: ArraySlice<UInt8>) {
        if time == nil, let found = CookieDate.time(token) {
            time = found
        } else if day == nil, let found = CookieDate.number(token, digits: 1...2) {
            day = found
        } else if month == nil, let found = CookieDate.month(token) {
            month = found
        } else if year == nil, let found = CookieDate.number(token, digits: 2...4) {
            year = found
        }
    }

    private var seconds: Int64? {
        guard let time, let day, let month, var year else { return nil }
        switch year {
        case 70...99: year += 1_900
        case 0...69: year += 2_000
        default: break
        }
        guard (1...31).contains(day), year >= 1_601, time.hour <= 23, time.minute <= 59, time.second <= 59,
            day <= CookieDate.days(ofMonth: month, year: year)
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        return Int64(days) * 86_400 + Int64(time.hour * 3_600 + time.minute * 60 + time.second)
    }

    private static func days(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: return 30
        case 2: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: return 31
        }
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        .map { Array($0.utf8) }

    private static func month(_ token: ArraySlice<UInt8>) -> Int? {
        let beginning = token.prefix(3).map { $0 | 0x20 }
        return months.firstIndex(of: beginning).map { $0 + 1 }
    }

    /// `hh:mm:ss`, each of one or two digits; what follows without a digit is ignored.
    private static func time(_ token: ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = wholeNumber(parts[0]), let minute = wholeNumber(parts[1]),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func wholeNumber(_ text: ArraySlice<UInt8>) -> Int? {
        text.allSatisfy(isDigit) ? number(text, digits: 1...2) : nil
    }

    /// The number at the beginning of a token, if it has so many digits and no more.
    private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix(while: isDigit)
        guard digits.contains(found.count) else { return nil }
        return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
