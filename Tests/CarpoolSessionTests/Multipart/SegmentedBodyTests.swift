import CarpoolHTTP
import Testing

@testable import CarpoolSession

/// Bodies of segments, and the forms that consist of them.
struct SegmentedBodyTests {
    private func readAll(_ body: any BodySource, by count: Int) -> String {
        var text = ""
        var room = [UInt8](repeating: 0, count: count)
        while true {
            let reading = room.withUnsafeMutableBytes { body.read(into: $0) }
            guard case .bytes(let count) = reading else {
                if case .end = reading { return text }
                return "\(text)<\(reading)>"
            }
            text += String(decoding: room[..<count], as: UTF8.self)
        }
    }

    @Test("pieces of any size, read by any amount", arguments: [1, 2, 3, 7, 64])
    func pieces(_ count: Int) {
        let feed = BodyFeed()
        feed.put(Array("stream".utf8), isLast: true) { _ in }
        let body = SegmentedBody([
            .bytes([]), .bytes(Array("one".utf8)), .bytes([]), .source(feed, length: 6), .bytes(Array("two".utf8)),
        ])
        #expect(body.lengthBytes == 12)
        #expect(readAll(body, by: count) == "onestreamtwo")
        #expect(body.canRestart)
        body.restart()
        #expect(readAll(body, by: count) == "onestreamtwo")
    }

    @Test("MP-11: a piece that is too short is a failure")
    func short() {
        let feed = BodyFeed()
        feed.put(Array("str".utf8), isLast: true) { _ in }
        let body = SegmentedBody([.source(feed, length: 6), .bytes(Array("two".utf8))])
        #expect(readAll(body, by: 64).contains("a part ended after 3 of 6 bytes"))
    }

    @Test("a reader that waits for a piece is notified when it has come")
    func waits() {
        let feed = BodyFeed()
        let body = SegmentedBody([.source(feed, length: 1)])
        var calls = 0
        body.onReady = { calls += 1 }
        #expect(readAll(body, by: 1) == "<wait>")
        feed.put([65]) { _ in }
        #expect(calls == 1)
        #expect(readAll(body, by: 1) == "A")
    }

    @Test(
        "MP-01: the characters of a boundary",
        arguments: [
            ("a", true), ("A-Z_0.9'+", true), (String(repeating: "x", count: 70), true), ("", false), ("a b", false),
            ("a\"", false), ("a;b", false), ("ü", false), (String(repeating: "x", count: 71), false),
        ])
    func boundaries(_ text: String, _ isGood: Bool) {
        #expect(MultipartUpload.isBoundary(text) == isGood)
    }

    @Test(
        "MP-06: the content type of a file name",
        arguments: [
            ("a.png", "image/png"), ("a.tar.GZ", "application/gzip"), ("a.", nil), (".profile", nil), ("a", nil),
            ("a.nothing", "application/octet-stream"),
        ])
    func types(_ name: String, _ type: String?) {
        let found = FileType.of(name: name)
        #expect(found.hasExtension == (type != nil))
        #expect(found.mimeType == type ?? "application/octet-stream")
    }
}
