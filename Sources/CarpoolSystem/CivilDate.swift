/// A day of the Gregorian calendar, which also counts the years before its introduction; the year 0 is before the year
/// 1.
///
/// The arithmetic is Howard Hinnant's (days_from_civil and civil_from_days): years begin in March, so that the leap day
/// comes last, and 400 years are an era of 146,097 days. It needs neither a table nor the C library's lock. Nothing
/// overflows within 10^15 years.
public struct CivilDate: Equatable, Sendable {
    /// Seconds of a day without leap seconds, as POSIX counts.
    public static let secondsPerDay = 86_400
    private static let daysPerEra = 146_097
    /// Days from 0000-03-01, the first day of era 0, to 1970-01-01.
    private static let daysBefore1970 = 719_468

    /// The year.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// A date. A day that the month lacks is a day of the next month to ``daysSince1970``, as 31 April is 1 May.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date so many days after 1970-01-01, or before it.
    public init(daysSince1970 days: Int) {
        let shifted = days + CivilDate.daysBefore1970
        let era = CivilDate.floored(shifted, by: CivilDate.daysPerEra)
        let dayOfEra = shifted - era * CivilDate.daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayFromMarch = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayFromMarch + 2) / 153
        day = dayFromMarch - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days from 1970-01-01; negative before it.
    public var daysSince1970: Int {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = CivilDate.floored(yearFromMarch, by: 400)
        let yearOfEra = yearFromMarch - era * 400
        let dayFromMarch = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayFromMarch
        return era * CivilDate.daysPerEra + dayOfEra - CivilDate.daysBefore1970
    }

    /// The day of the year, from 1.
    public var dayOfYear: Int { daysSince1970 - CivilDate(year: year, month: 1, day: 1).daysSince1970 + 1 }

    /// Splits seconds since 1970 into days since 1970 and the second of the day.
    public static func split(secondsSince1970 seconds: Int) -> (days: Int, secondOfDay: Int) {
        let days = floored(seconds, by: secondsPerDay)
        return (days, seconds - days * secondsPerDay)
    }

    private static func floored(_ number: Int, by divisor: Int) -> Int {
        number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
    }
}
