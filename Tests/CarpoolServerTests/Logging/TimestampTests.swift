import CarpoolJSON
@testable import CarpoolServer
import Glibc
import Testing

struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"), (951_782_399_999_999, "2000-02-28T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"), (951_868_800_000_001, "2000-03-01T00:00:00.000001Z"),
            (4_107_542_399_000_000, "2100-02-28T23:59:59.000000Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"), (-5, "1970-01-01T00:00:00.000000Z"),
        ] as [(Int64, String)])
    func text(_ microseconds: Int64, _ expected: String) {
        #expect(Timestamp.text(microseconds) == expected)
    }

    @Test("The C library agrees on every day of 400 years") func agreement() {
        for day in 0..<146_097 {
            var time = day * 86_400 + day % 86_400
            var parts = tm()
            gmtime_r(&time, &parts)
            let text = Timestamp.text(Int64(time) * 1_000_000)
            let numbers = text.split { !$0.isNumber }.compactMap { Int32($0) }
            let expected = [
                parts.tm_year + 1_900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, 0,
            ]
            if numbers != expected { Issue.record("\(time): \(text)") }
        }
    }

    @Test func aMemberOfARecord() throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a", 1)
        writer.member("time", time: 1)
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"a":1,"time":"1970-01-01T00:00:00.000001Z"}"#)
    }
}
