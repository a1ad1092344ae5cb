import Testing

@testable import CarpoolCache

struct HTTPDateTests {
    private static let now: Int64 = 1_767_225_600

    private func seconds(_ text: String, near now: Int64 = HTTPDateTests.now) -> Int64? {
        Array(text.utf8).withUnsafeBytes { HTTPDate.seconds($0, near: now) }
    }

    @Test(
        "HF-04: the three formats, in any case",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("SUN, 06 NOV 1994 08:49:37 gmt", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 18 Aug 2050 02:01:18 GMT", 2_544_400_878),
            ("Thursday, 18-Aug-50 02:01:18 GMT", 2_544_400_878), ("Thu Aug 18 02:01:18 2050", 2_544_400_878),
            ("Tue, 19 Jan 2038 14:14:08 GMT", 2_147_523_248), ("Sun, 21 Nov 2286 04:46:39 GMT", 10_000_039_599),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)])
    func valid(text: String, expected: Int64) {
        #expect(seconds(text) == expected)
    }

    @Test(
        "HF-04: nothing else is a date",
        arguments: [
            "", "0", "foo", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST",
            "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT", "Thu, 18  Aug  2050 02:01:18 GMT",
            "Thu, 18-Aug-2050 02:01:18 GMT", "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT",
            "Thu, 32 Aug 2050 02:01:18 GMT", "Thu, 00 Aug 2050 02:01:18 GMT", "Tue, 29 Feb 2001 00:00:00 GMT",
            "Tue, 29 Feb 1900 00:00:00 GMT", "Thu, 18 Aug 2050 24:01:18 GMT", "Thu, 18 Aug 2050 02:60:18 GMT",
            "Thu, 18 Aug 2050 02:01:61 GMT", "Xxx, 18 Aug 2050 02:01:18 GMT", "Thu, 18 Xxx 2050 02:01:18 GMT",
            "Thu, +8 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT ", "Thurs, 18-Aug-50 02:01:18 GMT",
            "Thu, 18 Aug 2050 02:01:18 +0000", "Thursday, 18-Aug-2050 02:01:18 GMT", "Thu Aug  18 02:01:18 2050",
        ])
    func invalid(text: String) {
        #expect(seconds(text) == nil)
    }

    @Test("HF-04: a year of two digits is at most 50 years ahead")
    func shortYears() {
        #expect(seconds("Sunday, 01-Jan-76 00:00:00 GMT") == 3_345_062_400)
        #expect(seconds("Sunday, 01-Jan-77 00:00:00 GMT") == 220_924_800)
        #expect(seconds("Sunday, 01-Jan-10 00:00:00 GMT", near: 3_600_000_000) == 4_417_977_600)
    }

    @Test("a date that was written is read again")
    func roundTrip() {
        var generator = SystemRandomNumberGenerator()
        let times =
            [0, -1, 951_782_399, 951_782_400]
            + (0..<2_000).map { _ in
                Int64.random(in: -62_167_219_200...253_402_300_799, using: &generator)
            }
        for time in times { #expect(seconds(HTTPDate.text(time)) == time, "\(HTTPDate.text(time))") }
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.text(.min) == "Sat, 01 Jan 0000 00:00:00 GMT")
    }
}
