import Testing

@testable import CarpoolHTTP

struct HeadReaderTests {
    /// Reads lines and returns the heads that they contain.
    func heads(_ lines: [String], _ reader: inout HeadReader) -> [ResponseHead] {
        lines.compactMap { line in
            let event = Array(line.utf8).withUnsafeBytes { reader.read($0) }
            if case .head(let head) = event { return head }
            return nil
        }
    }

    func fields(_ head: ResponseHead?) -> [String] {
        var list: [String] = []
        head?.fields.forEach {
            list.append(String(decoding: $0, as: UTF8.self) + "=" + String(decoding: $1, as: UTF8.self))
        }
        return list
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", 200, "http/1.1"), ("HTTP/1.0 404 Not Found\r\n", 404, "http/1.0"),
        ("HTTP/2 204 \r\n", 204, "h2"), ("HTTP/1.1 999\n", 999, "http/1.1"),
        ("HTTP/1.1\t201 x\r\n", 201, "http/1.1"), ("HTTP/1.1 500\tx\r\n", 500, "http/1.1"),
    ]) func readsTheStatusLine(line: String, status: Int, version: String) {
        var reader = HeadReader()
        let head = heads([line, "\r\n"], &reader).first
        #expect(head?.status == status)
        #expect(head?.httpVersion == version)
    }

    @Test(
        arguments: [
            (["5"], nil), (["5", "5"], nil), (["5, 5", "05"], nil), (["9223372036854775807"], nil), ([], nil),
            (["5", "6"], .conflict), (["5", "5", "50"], .conflict), (["5,6"], .conflict),
            (["9223372036854775808"], .notANumber), (["99999999999999999999"], .notANumber), (["-5"], .notANumber),
            (["+5"], .notANumber), (["5 5"], .notANumber), (["5,"], .notANumber), (["5;"], .notANumber),
            (["0x5"], .notANumber), (["5.0"], .notANumber), ([""], .notANumber), (["5", "five"], .notANumber),
        ] as [([String], FieldBlock.LengthFault?)])
    func seesLengthsThatAreNone(_ lengths: [String], _ expected: FieldBlock.LengthFault?) {
        var reader = HeadReader()
        let lines = lengths.map { "Content-Length: \($0)\r\n" }
        let head = heads(["HTTP/1.1 200 OK\r\n"] + lines + ["\r\n"], &reader).first
        #expect(head?.fields.lengthFault == expected)
    }

    @Test func keepsFieldsAsTheyCame() {
        var reader = HeadReader()
        let head = heads(
            ["HTTP/1.1 200 OK\r\n", "Set-Cookie: a=1\r\n", "X-empty:\r\n", "set-cookie:  b=2 \t\r\n", "\r\n"], &reader
        ).first
        #expect(fields(head) == ["Set-Cookie=a=1", "X-empty=", "set-cookie=b=2"])
        #expect(head?.fields.first("SET-COOKIE") == "a=1")
        #expect(head?.fields.first("absent") == nil)
    }

    @Test func passesOverInterimHeadsAndTrailers() {
        var reader = HeadReader()
        let found = heads(
            [
                "HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 103 Early Hints\r\n", "Link: x\r\n", "\r\n",
                "HTTP/1.1 200 OK\r\n", "A: b\r\n", "\r\n", "Trailer-Field: c\r\n", "\r\n",
            ], &reader)
        #expect(found.count == 1)
        #expect(fields(found.first) == ["A=b"])
        #expect(reader.isComplete)
    }

    @Test func joinsFoldedLines() {
        var reader = HeadReader()
        let head = heads(
            ["HTTP/1.1 200 OK\r\n", " lost\r\n", "A: one\r\n", "\t two \r\n", " three\r\n", "B: c\r\n", "\r\n"], &reader
        ).first
        #expect(fields(head) == ["A=one two three", "B=c"])
    }

    @Test func foldingLeavesNoBlanksAtTheEnds() {
        var reader = HeadReader()
        let head = heads(["HTTP/1.1 200 OK\r\n", "A:\r\n", " \r\n", "\tone\r\n", " \r\n", "\r\n"], &reader).first
        #expect(fields(head) == ["A=one"])
    }

    @Test func aRepeatedBlockReplacesAnUnfinishedOne() {
        var reader = HeadReader()
        let found = heads(["HTTP/1.1 500 No\r\n", "A: b\r\n", "HTTP/1.1 200 OK\r\n", "C: d\r\n", "\r\n"], &reader)
        #expect(found.map(\.status) == [200])
        #expect(fields(found.first) == ["C=d"])
    }

    @Test func passesOverLinesWithoutAName() {
        var reader = HeadReader()
        let head = heads(["HTTP/1.1 200 OK\r\n", "nonsense\r\n", ": x\r\n", "A: b\r\n", "\r\n"], &reader).first
        #expect(fields(head) == ["A=b"])
    }

    @Test func isBounded() {
        var reader = HeadReader()
        let line = [UInt8]("A: ".utf8) + [UInt8](repeating: 0x61, count: 1_000) + [13, 10]
        var isTooLong = false
        for _ in 0..<400 where !isTooLong {
            if case .tooLong = line.withUnsafeBytes({ reader.read($0) }) { isTooLong = true }
        }
        #expect(isTooLong)
    }

    @Test(arguments: ["A: b\r\n", " b\r\n", "\r\n", "nonsense\r\n", "HTTP/1.1 100 Continue\r\n"])
    func b2_hasAMaximumOfLines(_ text: String) {
        var reader = HeadReader()
        var lines = 0
        _ = heads(["HTTP/1.1 103 Early Hints\r\n", "A: b\r\n"], &reader)
        for _ in 0..<10_000 {
            if case .tooMany = Array(text.utf8).withUnsafeBytes({ reader.read($0) }) { break }
            lines += 1
        }
        #expect(lines == HeadReader.maximumLines - 2)
    }
}
