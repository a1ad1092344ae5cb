import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolServer
@testable import CarpoolSession
import Testing

struct RecordWriterTests {
    private let stage: Stage
    private let client = FakeClient()

    init() throws { stage = try Stage() }

    private func record(_ entry: RequestEntry, atMost limit: Int = 63_487) throws -> JSON {
        var writer = JSONWriter()
        stage.server.requests.record.write(entry.request, atMost: limit, to: &writer)
        return try JSON.parse(writer.bytes)
    }

    private func size(_ entry: RequestEntry, atMost limit: Int) -> Int {
        var writer = JSONWriter()
        stage.server.requests.record.write(entry.request, atMost: limit, to: &writer)
        return writer.count
    }

    private func addHop(_ entry: RequestEntry, _ url: String, _ status: Int = 200, start: Int64 = 1_000_000) throws {
        var hop = Hop(method: .get, url: try HTTPURL(url))
        var metrics = TransferMetrics()
        metrics.fetchStart = start
        metrics.endMicroseconds = 500
        metrics.remoteAddress = "::1"
        metrics.remotePort = 443
        metrics.localAddress = "127.0.0.1"
        metrics.tlsVersion = "TLSv1.3"
        metrics.tlsCipher = "TLS_AES_256_GCM_SHA384"
        metrics.httpVersion = "h2"
        hop.metrics = metrics
        hop.response = .make(status)
        entry.request.attempts[0].hops.append(hop)
    }

    @Test("Heads are cut after a line so that their written form fits", arguments: [0, 1, 9, 14, 20, 100, 10_000])
    func heads(_ limit: Int) {
        for line in ["A: b\r\n", "\u{1}\u{1}\r\n", "\u{e9}\r\n"] {
            let lines = Array(String(repeating: line, count: 50).utf8)
            let count = lines.withUnsafeBytes { RecordWriter.fittingBytes(of: $0, atMost: limit) }
            #expect(count % line.utf8.count == 0)
            let encoded = lines[..<count].withUnsafeBytes { JSONWriter.encodedLength(ofText: $0) }
            #expect(count == 0 || encoded <= limit)
            let one = Array(line.utf8).withUnsafeBytes { JSONWriter.encodedLength(ofText: $0) }
            #expect(count > 0 || limit < one + line.utf8.count)
            #expect(limit < 10_000 || count == lines.count)
        }
    }

    @Test("An unfinished request has only name and state")
    func underWay() throws {
        let entry = try stage.submit(client)
        let record = try record(entry)
        #expect(record.count == 3)
        #expect(record["request"]?.string == entry.request.id)
        #expect(record["state"]?.string == "resumed")
        #expect(record["finished"]?.bool == false)
    }

    @Test("A response with its hops")
    func finished() throws {
        let entry = try stage.submit(client)
        entry.request.attempts[0].hops = []
        entry.request.attempts[0].request = TransportRequest(method: .get, url: try HTTPURL("https://a.test/from"))
        try addHop(entry, "https://a.test/from", 302)
        try addHop(entry, "https://b.test/to", start: 1_002_000)
        try stage.finish(entry, body: Array("h\"i".utf8), fields: [("A", "1"), ("a", "2")])
        let record = try record(entry)
        #expect(record["outcome"]?["ok"]?.bool == true)
        #expect(record["outcome"]?["error"] == nil)
        let response = try #require(record["response"])
        #expect(response["status"]?.int == 200)
        #expect(response["url"]?.string == "https://b.test/to")
        #expect(response["headers"]?[index: 1]?[index: 0]?.string == "a")
        #expect(record["body"]?["text"]?.string == "h\"i")
        #expect(record["body"]?["size_bytes"]?.int == 3)
        #expect(record["metrics"]?["duration_us"]?.int == 2_500)
        #expect(record["metrics"]?["redirects"]?.int == 1)
        let attempt = try #require(record["attempts"]?[index: 0])
        #expect(attempt["request"]?["url"]?.string == "https://a.test/from")
        let hop = try #require(attempt["metrics"]?[index: 1])
        #expect(hop["status"]?.int == 200)
        #expect(hop["dns_us"]?.kind == .null)
        #expect(hop["tls"]?["version"]?.string == "TLSv1.3")
        #expect(hop["remote"]?.string == "[::1]:443")
        #expect(hop["local"]?.string == "127.0.0.1:0")
        #expect(hop["fetch_start"]?.string == "1970-01-01T00:00:01.002000Z")
    }

    @Test("A failure has its name, its remedy and the library's message")
    func failure() throws {
        let entry = try stage.submit(client)
        let error = TransportError(
            .timedOut, "late", curlCode: 28, curlText: "Timeout", systemCode: 110, timeout: "idle", isRetryable: true)
        entry.request.recordError(.sessionTaskFailed(error))
        entry.request.finish()
        let record = try record(entry)
        let told = try #require(record["outcome"]?["error"])
        #expect(record["outcome"]?["ok"]?.bool == false)
        #expect(told["name"]?.string == "session_task_failed.timed_out")
        #expect(told["code"]?.int == 2000)
        #expect(told["retryable"]?.bool == true)
        #expect(told["timeout"]?.string == "idle")
        #expect(told["curl"]?["code"]?.int == 28)
        #expect(told["errno"]?.int == 110)
        #expect(told["hint"]?.string != nil)
        #expect(record["response"]?.kind == .null)
        #expect(record["metrics"]?.kind == .null)
        #expect(record["body"]?["none"]?.bool == true)
        #expect(record["attempts"]?[index: 0]?["error"]?.string == "session_task_failed.timed_out")
    }

    @Test("Bytes that are not UTF-8 are base64: bodies, and values of fields")
    func bytes() throws {
        let entry = try stage.submit(client)
        try entry.request.receive([0xFF, 0x00])
        entry.request.response = .make(200, lines: [[0x58, 0x3A, 0xE9], Array("Y: é".utf8)])
        entry.request.finish()
        let record = try record(entry)
        #expect(record["body"]?["base64"]?.string == "/wA=")
        let fields = try #require(record["response"]?["headers"])
        #expect(fields[index: 0]?[index: 1]?["base64"]?.string == "6Q==")
        #expect(fields[index: 1]?[index: 1]?.string == "é")
    }

    @Test("A body goes to the spool when its encoded form is too large", arguments: [(10, false), (9, true)])
    func fit(_ limit: Int, _ isFile: Bool) throws {
        let entry = try stage.submit(client)
        try stage.finish(entry, body: Array("1234\"\"".utf8))  // Two quotes around, two escapes.
        if stage.server.requests.record.mustSpill(entry.request, maximumEncodedBytes: limit) {
            entry.request.spillBody { _ in }
        }
        let body = try #require(try record(entry)["body"])
        #expect((body["file"]?.string?.hasPrefix(stage.folder("spool/\(entry.request.id)_")) ?? false) == isFile)
        #expect(body["size_bytes"]?.int == 6)
    }

    @Test("A body that was released is reported as released")
    func gone() throws {
        let entry = try stage.submit(client, #","response_body":"file""#)
        try stage.finish(entry, body: [1, 2])
        #expect(try record(entry)["body"]?["file"] != nil)
        stage.server.spool.release(entry.request.id)
        let body = try #require(try record(entry)["body"])
        #expect(body["gone"]?.bool == true)
        #expect(body["size_bytes"]?.int == 2)
    }

    /// Responses whose record would be longer than a line.
    enum Excess: CaseIterable, Sendable {
        case body, longField, shortFields, escapedFields, binaryFields, urls, hops, everything
    }

    @Test("The record of any response fits the line and is JSON", arguments: Excess.allCases, [63_487, 8_192, 2_048])
    func limits(_ excess: Excess, _ limit: Int) throws {
        let entry = try stage.submit(client)
        entry.request.attempts[0].hops = []
        let isLong = excess == .urls || excess == .everything
        let url = "http://a.test/" + (isLong ? String(repeating: "\"é", count: 20_000) : "")
        for _ in 0..<(excess == .hops || excess == .everything ? 101 : 2) { try addHop(entry, url) }
        var lines: [[UInt8]] = [Array("Content-Type: text/plain".utf8)]
        switch excess {
        case .longField: lines.append(Array("X: ".utf8) + [UInt8](repeating: 0x61, count: 100_000))
        case .shortFields, .everything: lines += [[UInt8]](repeating: Array("a:".utf8), count: 20_000)
        case .escapedFields: lines += [[UInt8]](repeating: Array("a: \"\\\t\"\\\t".utf8), count: 5_000)
        case .binaryFields: lines += [[UInt8]](repeating: [0x61, 0x3A, 0xFF], count: 5_000)
        case .body, .urls, .hops: break
        }
        entry.request.response = .make(200, lines: lines)
        if excess == .body || excess == .everything {
            try entry.request.receive([UInt8](repeating: 0x01, count: 40_000))
        }
        entry.request.finish()
        #expect(size(entry, atMost: limit) <= limit)
        let record = try record(entry, atMost: limit)
        #expect(record["response"]?["status"]?.int == 200)
        #expect(record["response"]?["headers"]?[index: 0]?[index: 0]?.string == "Content-Type")
        let isCut = excess != .body && excess != .urls && excess != .hops
        #expect((record["response"]?["truncated"] != nil) == isCut)
    }

    @Test("If the spool is full too, the body is reported as released, and the line fits")
    func fullSpool() throws {
        let stage = try Stage { $0.limits.spoolBytes = 10 }
        let entry = try stage.submit(client)
        try stage.finish(entry, body: [UInt8](repeating: 0x01, count: 40_000))
        var writer = JSONWriter()
        stage.server.requests.record.write(entry.request, atMost: 63_487, to: &writer)
        #expect(writer.count < 63_487)
        #expect(try JSON.parse(writer.bytes)["body"]?["gone"]?.bool == true)
        #expect(stage.server.spool.totalBytes == 0)
    }

    @Test("A record behind other text is shortened by itself")
    func position() throws {
        let entry = try stage.submit(client)
        try stage.finish(entry, fields: [("X", String(repeating: "x", count: 50_000))])
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("before", String(repeating: "y", count: 50_000))
        writer.key("record")
        stage.server.requests.record.write(entry.request, atMost: 60_000, to: &writer)
        writer.member("after", 1)
        writer.endObject()
        let text = try JSON.parse(writer.bytes)
        #expect(text["record"]?["response"]?["headers"]?.count == 1)
        #expect(text["record"]?["response"]?["truncated"] == nil)
        #expect(text["after"]?.int == 1)
    }
}
