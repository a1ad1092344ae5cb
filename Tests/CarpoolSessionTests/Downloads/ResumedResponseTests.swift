import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct ResumedResponseTests {
    @Test(
        "Content-Range is read strictly (RFC 9110, section 14.4)",
        arguments: [
            ("bytes 0-0/1", true), ("bytes 5-9/10", true), ("bytes 5-9/*", true), ("bytes */10", true),
            ("BYTES 5-9/10", true), ("bytes 5-10/10", false), ("bytes 9-5/10", false), ("bytes 5-/10", false),
            ("bytes -5/10", false), ("bytes 5-9", false), ("items 5-9/10", false), ("bytes +5-9/10", false),
            ("bytes 5-9/10/11", false), ("", false), ("bytes 99999999999999999999-1/2", false),
        ])
    func contentRange(_ text: String, _ isValid: Bool) {
        #expect((ContentRange(text) != nil) == isValid)
    }

    @Test(
        "The meaning of an answer to a range request",
        arguments: [
            (206, [("Content-Range", "bytes 5-9/10"), ("ETag", "\"1\"")], ResumedResponse.resume(total: 10)),
            (206, [("Content-Range", "bytes 5-9/*"), ("ETag", "\"1\"")], .resume(total: 10)),
            (206, [("Content-Range", "bytes 5-9/10")], .requestWhole(.validatorMissing)),
            (206, [("Content-Range", "bytes 5-9/10"), ("Last-Modified", date)], .requestWhole(.validatorMissing)),
            (206, [("Content-Range", "bytes 5-9/10"), ("ETag", "\"2\"")], .requestWhole(.resourceChanged)),
            (206, [("Content-Range", "bytes 4-9/10")], .requestWhole(.rangeMismatch)),
            (206, [("Content-Range", "bytes 5-8/10")], .requestWhole(.rangeMismatch)),
            (206, [("Content-Range", "bytes 5-8/*"), ("ETag", "\"1\"")], .requestWhole(.rangeMismatch)),
            (
                206, [("Content-Range", "bytes 5-9/10"), ("ETag", "\"1\""), ("Content-Encoding", "gzip")],
                .requestWhole(.rangeMismatch)
            ),
            (
                206, [("Content-Range", "bytes 5-9/10"), ("ETag", "\"1\""), ("Content-Encoding", "Identity")],
                .resume(total: 10)
            ),
            (206, [("Content-Range", "bytes 5-10/11")], .requestWhole(.rangeMismatch)),
            (206, [("Content-Type", "multipart/byteranges")], .requestWhole(.rangeMismatch)),
            (
                206, [("Content-Range", "bytes 5-9/10"), ("Content-Range", "bytes 0-4/10"), ("ETag", "\"1\"")],
                .requestWhole(.rangeMismatch)
            ),
            (
                206, [("Content-Range", "bytes 5-9/10"), ("Content-Range", "bytes 5-9/10"), ("ETag", "\"1\"")],
                .resume(total: 10)
            ),
            (
                206, [("Content-Range", "bytes 5-9/10"), ("ETag", "\"1\""), ("ETag", "\"2\"")],
                .requestWhole(.resourceChanged)
            ),
            (200, [("ETag", "\"1\""), ("ETag", "\"2\"")], .restart(.resourceChanged)),
            (416, [("Content-Range", "bytes */5"), ("Content-Range", "bytes */6")], .requestWhole(.resourceChanged)),
            (200, [("ETag", "\"1\"")], .restart(.rangeIgnored)),
            (200, [("ETag", "\"2\"")], .restart(.resourceChanged)),
            (416, [("Content-Range", "bytes */5")], .requestLastByte(of: 5)),
            (416, [("Content-Range", "bytes */4")], .requestWhole(.resourceChanged)),
            (416, [], .requestWhole(.resourceChanged)),
            (204, [], .reject), (404, [], .reject), (500, [], .reject),
        ] as [(Int, [(String, String)], ResumedResponse)])
    func meaning(_ status: Int, _ fields: [(String, String)], _ expected: ResumedResponse) {
        let head = ResponseHead.make(status, fields)
        #expect(ResumedResponse(head, offset: 5, validator: .entityTag("\"1\""), total: 10) == expected)
    }

    @Test(
        "Without the size before, a part is the rest only if it says so",
        arguments: [
            ("bytes 5-9/10", ResumedResponse.resume(total: 10)), ("bytes 5-9/*", .requestWhole(.rangeMismatch)),
            ("bytes 5-8/10", .requestWhole(.rangeMismatch)),
        ])
    func unknownSize(_ range: String, _ expected: ResumedResponse) {
        let head = ResponseHead.make(206, [("Content-Range", range), ("ETag", "\"1\"")])
        #expect(ResumedResponse(head, offset: 5, validator: .entityTag("\"1\""), total: nil) == expected)
    }

    private static let date = "Sat, 21 Nov 2026 10:00:00 GMT"
    private static let later = "Sat, 21 Nov 2026 10:00:01 GMT"

    @Test("A range after a date has the date")
    func dated() {
        let (validator, range) = (
            EntityValidator.lastModified(ResumedResponseTests.date), ("Content-Range", "bytes 5-9/10")
        )
        func meaning(_ fields: [(String, String)]) -> ResumedResponse {
            ResumedResponse(.make(206, fields + [range]), offset: 5, validator: validator, total: nil)
        }
        #expect(meaning([("Last-Modified", ResumedResponseTests.date)]) == .resume(total: 10))
        #expect(meaning([("Last-Modified", ResumedResponseTests.later)]) == .requestWhole(.resourceChanged))
        #expect(meaning([("ETag", "\"1\"")]) == .requestWhole(.validatorMissing))
    }

    @Test(
        "Only strong validators are accepted (RFC 9110, section 13.1.5)",
        arguments: [
            ([("ETag", "\"1\"")], EntityValidator.entityTag("\"1\"")),
            ([("ETag", "W/\"1\"")], nil), ([("ETag", "1")], nil), ([("ETag", "\"")], nil), ([], nil),
            ([("ETag", "W/\"1\""), ("Last-Modified", date), ("Date", later)], nil),
            ([("Last-Modified", date), ("Date", later)], .lastModified(date)),
            ([("Last-Modified", date), ("Date", date)], nil), ([("Last-Modified", date)], nil),
            ([("Last-Modified", "yesterday"), ("Date", later)], nil),
            ([("ETag", "\"1\""), ("ETag", "\"2\"")], nil),
            ([("ETag", "\"1\""), ("ETag", "\"1\"")], .entityTag("\"1\"")),
            ([("Last-Modified", date), ("Last-Modified", later), ("Date", later)], nil),
            ([("Last-Modified", date), ("Date", date), ("Date", later)], nil),
        ] as [([(String, String)], EntityValidator?)])
    func validators(_ fields: [(String, String)], _ expected: EntityValidator?) {
        #expect(EntityValidator(.make(200, fields)) == expected)
    }
}
