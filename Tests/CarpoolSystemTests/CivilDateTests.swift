import CarpoolSystem
import Glibc
import Testing

struct CivilDateTests {
    @Test(
        "Known days",
        arguments: [
            (0, 1970, 1, 1, 1), (-1, 1969, 12, 31, 365), (-25_509, 1900, 2, 28, 59), (-25_508, 1900, 3, 1, 60),
            (11_016, 2000, 2, 29, 60), (11_017, 2000, 3, 1, 61), (19_782, 2024, 2, 29, 60), (20_088, 2024, 12, 31, 366),
            (47_540, 2100, 2, 28, 59), (47_541, 2100, 3, 1, 60), (2_932_896, 9999, 12, 31, 365),
            (2_932_897, 10_000, 1, 1, 1), (-719_468, 0, 3, 1, 61), (-719_469, 0, 2, 29, 60), (-719_528, 0, 1, 1, 1),
            (-719_529, -1, 12, 31, 365), (-135_140, 1600, 1, 1, 1), (-141_427, 1582, 10, 15, 288),
        ] as [(Int, Int, Int, Int, Int)])
    func known(_ days: Int, _ year: Int, _ month: Int, _ day: Int, _ dayOfYear: Int) {
        let date = CivilDate(daysSince1970: days)
        #expect(date == CivilDate(year: year, month: month, day: day))
        #expect(date.daysSince1970 == days)
        #expect(date.dayOfYear == dayOfYear)
    }

    @Test("The C library agrees on every day from the year -401 to 10000") func agreement() {
        for day in -865_992...2_932_897 {
            var time = day * 86_400
            var parts = tm()
            gmtime_r(&time, &parts)
            let date = CivilDate(daysSince1970: day)
            let isEqual =
                date.year == Int(parts.tm_year) + 1_900 && date.month == Int(parts.tm_mon) + 1
                && date.day == Int(parts.tm_mday) && date.daysSince1970 == day
            if !isEqual { Issue.record("\(day): \(date)") }
        }
    }

    @Test("The day of the year, every day of an era") func dayOfYear() {
        for day in -146_097..<0 {
            var time = day * 86_400
            var parts = tm()
            gmtime_r(&time, &parts)
            let found = CivilDate(daysSince1970: day).dayOfYear
            if found != Int(parts.tm_yday) + 1 { Issue.record("\(day): \(found)") }
        }
    }

    @Test("A day that the month lacks counts on")
    func beyondTheMonth() {
        let march = CivilDate(year: 2023, month: 3, day: 3).daysSince1970
        #expect(CivilDate(year: 2023, month: 2, day: 31).daysSince1970 == march)
    }

    @Test(
        "Seconds are split downwards, before 1970 too",
        arguments: [
            (0, 0, 0), (86_399, 0, 86_399), (86_400, 1, 0), (-1, -1, 86_399), (-86_400, -1, 0), (-86_401, -2, 86_399),
            (253_402_300_799, 2_932_896, 86_399),
        ] as [(Int, Int, Int)])
    func split(_ seconds: Int, _ days: Int, _ secondOfDay: Int) {
        let parts = CivilDate.split(secondsSince1970: seconds)
        #expect(parts.days == days)
        #expect(parts.secondOfDay == secondOfDay)
    }
}
