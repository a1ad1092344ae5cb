import CarpoolJSON
import Testing

@testable import CarpoolCLI
@testable import CarpoolCaller

struct RequestLinesTests {
    private func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

    private func event(_ type: String, _ data: String, request: String = "r_1", second: String = "00.000000") throws
        -> JSON
    {
        try json(
            """
            {"type":"request.\(type)","time":"2026-09-30T10:00:\(second)Z","request":"\(request)","data":\(data)}
            """)
    }

    private func lines(width: Int? = nil, isColoured: Bool = false) -> RequestLines {
        RequestLines(Columns(width: width, hasUnicode: true), isColoured: isColoured)
    }

    private static let begin = #"{"method":"GET","url":"http://a/long/path"}"#

    @Test(arguments: [
        (#"{"state":"finished","ok":true,"status":200,"size_bytes":2048}"#, "200       GET       12.3 ms  2.00 KiB"),
        (#"{"state":"cancelled","ok":false,"size_bytes":0}"#, "cancelled GET       12.3 ms       0 B"),
        (#"{"state":"finished","ok":false,"status":200,"size_bytes":7,"error":{"name":"cut"}}"#, "failed    GET "),
    ])
    func aRequestHasALineAtItsEnd(_ data: String, _ expected: String) throws {
        var lines = lines()
        #expect(try lines.take(event("did_resume", RequestLinesTests.begin)) == nil)
        let line = try lines.take(event("did_finish", data, second: "00.012345"))
        #expect(line?.hasPrefix("10:00:00.012 \(expected)") == true, "\(line ?? "")")
        #expect(line?.contains("http://a/long/path") == true)
        // It is forgotten then.
        #expect(try lines.take(event("did_finish", data))?.contains(" ?") == true)
    }

    @Test(arguments: [
        (#"[{"connection":3,"reused":false}]"#, " new    http"),
        (#"[{"connection":3,"reused":false},{"connection":3,"reused":true}]"#, " reused http"),
        (#"[{"connection":null,"status":200}]"#, " cache  http"), (#"[{"connection":null}]"#, "        http"),
        ("[]", "        http"),
    ])
    func theLastResponseHasASource(_ metrics: String, _ expected: String) throws {
        var lines = lines()
        _ = try lines.take(event("did_resume", RequestLinesTests.begin))
        _ = try lines.take(event("did_gather_metrics", #"{"metrics":\#(metrics)}"#))
        let end = #"{"state":"finished","ok":true,"status":200,"size_bytes":1}"#
        let line = try lines.take(event("did_finish", end)) ?? ""
        #expect(line.contains(expected), "\(line)")
    }

    @Test(arguments: [40, 80, 200]) func aTerminalHasWholeLines(_ width: Int) throws {
        var lines = lines(width: width, isColoured: true)
        let url = "http://a/" + String(repeating: "x", count: 300)
        _ = try lines.take(event("did_resume", #"{"method":"GET","url":"\#(url)"}"#))
        let end = #"{"state":"finished","ok":false,"size_bytes":0,"error":{"message":"the host is gone","name":"n"}}"#
        let line = try lines.take(event("did_finish", end)) ?? ""
        #expect(line.hasPrefix("\u{1B}[31m") && line.hasSuffix("\u{1B}[0m"))
        let text = String(line.dropFirst(5).dropLast(4))
        #expect(text.count <= width && lines.heading.count <= width)
        #expect(text.hasSuffix("  the host is gone") == (width > 100))
    }

    @Test(arguments: [
        (59, "10:00:00 200       http://a/long/path"),
        (79, "10:00:00.012 200       GET       12.3 ms http://a/long/path"),
        (80, "10:00:00.012 200       GET       12.3 ms       1 B        http://a/long/path"),
    ])
    func aNarrowTerminalLeavesOutColumns(_ width: Int, _ expected: String) throws {
        var lines = lines(width: width)
        _ = try lines.take(event("did_resume", #"{"method":"GET","url":"http://a/long/path"}"#))
        let data = #"{"state":"finished","ok":true,"status":200,"size_bytes":1}"#
        #expect(lines.take(try event("did_finish", data, second: "00.012300")) == expected)
        #expect(lines.heading.hasPrefix(width < 60 ? "UTC      STATUS    URL" : "TIME (UTC)   STATUS    METHOD"))
    }

    @Test func controlCharactersAreEscaped() throws {
        var lines = lines()
        _ = try lines.take(event("did_resume", #"{"method":"GET","url":"http://a/\u001b[2J"}"#))
        let end = #"{"state":"finished","ok":true,"status":200,"size_bytes":1}"#
        #expect(try lines.take(event("did_finish", end))?.contains("\u{1B}") == false)
        let failure = #"{"state":"finished","ok":false,"size_bytes":0,"error":{"name":"n","message":"a\u001b[2Jb"}}"#
        let failed = try #require(try lines.take(event("did_finish", failure)))
        #expect(!failed.contains("\u{1B}") && failed.contains("[2Jb"))
    }

    @Test func theDurationIsThatSinceTheFirstBeginning() throws {
        var lines = lines()
        _ = try lines.take(event("did_resume", RequestLinesTests.begin))
        _ = try lines.take(event("did_resume", RequestLinesTests.begin, second: "02.000000"))
        let end = #"{"state":"finished","ok":true,"status":200,"size_bytes":1}"#
        let line = try lines.take(event("did_finish", end, second: "03.500000")) ?? ""
        #expect(line.contains(" 3500.0 ms "), "\(line)")
    }

    @Test func whatRunsLongIsNotForgottenForThoseThatHaveEnded() throws {
        var lines = lines()
        _ = try lines.take(event("did_resume", RequestLinesTests.begin, request: "long"))
        let end = #"{"state":"finished","ok":true,"status":200,"size_bytes":1}"#
        for number in 0..<(3 * RequestLines.maximumBegun) {
            _ = try lines.take(event("did_resume", RequestLinesTests.begin, request: "r\(number)"))
            _ = try lines.take(event("did_finish", end, request: "r\(number)"))
        }
        #expect(try lines.take(event("did_finish", end, request: "long"))?.contains("http://a/long/path") == true)
    }

    @Test func whatRunsAlreadyIsKnown() throws {
        var lines = lines()
        let entry =
            #"{"request":"r_1","state":"resumed","method":"PUT","url":"http://b/","created":"2026-09-30T09:59:59Z"}"#
        #expect(lines.take(running: [try json(entry)]).first?.contains("running   PUT") == true)
        let end = #"{"state":"finished","ok":true,"status":201,"size_bytes":0}"#
        let line = try lines.take(event("did_finish", end)) ?? ""
        #expect(line.contains("201       PUT     1000.0 ms") && line.hasSuffix("http://b/"), "\(line)")
    }

    @Test func whatBeganBeforeIsAskedFor() throws {
        var lines = lines()
        let data = #"{"state":"finished","ok":true,"status":200,"size_bytes":1}"#
        let end = try event("did_finish", data, second: "00.012300")
        #expect(try lines.unknown(in: event("did_resume", RequestLinesTests.begin)) == nil)
        #expect(lines.unknown(in: end) == "r_1")
        _ = try lines.take(event("did_gather_metrics", #"{"metrics":[{"connection":3,"reused":true}]}"#))
        #expect(lines.unknown(in: end) == "r_1")
        let record = #"{"method":"PUT","url":"http://b/","metrics":{"start":"2026-09-30T10:00:00.000000Z"}}"#
        lines.take(record: try json(record), of: "r_1")
        #expect(lines.unknown(in: end) == nil)
        #expect(lines.take(end) == "10:00:00.012 200       PUT       12.3 ms       1 B reused http://b/")
    }

    @Test func aWideTerminalHasTheNameOfTheClient() throws {
        let end = try event(
            "did_finish",
            #"{"state":"finished","ok":true,"status":200,"size_bytes":1,"client_name":"nightly-\u001breport"}"#)
        for (width, expected) in [(119, false), (120, true)] {
            var lines = lines(width: width)
            _ = try lines.take(event("did_resume", RequestLinesTests.begin))
            let line = lines.take(end) ?? ""
            #expect(line.contains(#" nightly-\u{1b… http://a/long/path"#) == expected, "\(line)")
            #expect(line.contains("nightly") == expected && lines.heading.contains("CLIENT ") == expected)
        }
    }

    @Test func theOldestIsForgottenBeyondTheMaximum() throws {
        var lines = lines()
        let count = 3 * RequestLines.maximumBegun
        for number in 0..<count {
            _ = try lines.take(event("did_resume", RequestLinesTests.begin, request: "r_\(number)"))
        }
        let end = #"{"state":"finished","ok":true,"status":200,"size_bytes":1}"#
        #expect(try lines.take(event("did_finish", end, request: "r_0"))?.contains(" ?") == true)
        let last = try lines.take(event("did_finish", end, request: "r_\(count - 1)"))
        #expect(last?.hasSuffix("http://a/long/path") == true)
    }
}
