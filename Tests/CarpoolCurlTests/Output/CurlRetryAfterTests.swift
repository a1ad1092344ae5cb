import Testing

@testable import CarpoolCurl

struct CurlRetryAfterTests {
    @Test(
        "Numbers and dates, up to 6 hours",
        arguments: [
            ("120", 120), (" 7", 7), ("0", 0), ("21600", 21_600), ("21601", 21_600), ("99999999999999999999", 0),
            ("x", 0),
            ("-5", 0), ("5 minutes", 5), ("", 0), ("Wed, 01 Jan 2020 00:01:00 GMT", 60),
            ("Tue, 31 Dec 2019 00:00:00 GMT", 0),
            ("Thu, 02 Jan 2020 00:00:00 GMT", 21_600),
        ])
    func seconds(_ value: String, _ expected: Int64) {
        #expect(CurlRetryAfter.seconds(value, now: 1_577_836_800) == expected)
    }
}
