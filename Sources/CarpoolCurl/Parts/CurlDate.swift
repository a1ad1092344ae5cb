internal import CarpoolSystem

/// Dates as curl reads them (curl_getdate), and as HTTP writes them.
enum CurlDate {
    /// The time of a date in seconds since 1970; `nil` for a text that curl does not take for a date. A time without a
    /// zone is of UTC.
    static func parse(_ text: String) -> Int64? {
        var parser = CurlDateParser(text)
        return parser.parse()
    }

    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    /// A date of HTTP, such as `Tue, 15 Nov 1994 12:45:26 GMT`.
    static func http(_ seconds: Int64) -> String {
        let (days, second) = CivilDate.split(secondsSince1970: Int(seconds))
        let date = CivilDate(daysSince1970: days)
        // 1 January 1970 was a Thursday.
        let weekday = ((days + 3) % 7 + 7) % 7
        let time = [second / 3_600, second / 60 % 60, second % 60].map { twoDigits($0) }.joined(separator: ":")
        let month = CurlDateNames.months[date.month - 1]
        return "\(CurlDate.days[weekday]), \(twoDigits(date.day)) \(month) \(fourDigits(date.year)) \(time) GMT"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func fourDigits(_ year: Int) -> String {
        let digits = String(year)
        return String(repeating: " ", count: max(0, 4 - digits.utf8.count)) + digits
    }
}
