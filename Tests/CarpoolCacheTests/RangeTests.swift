import CarpoolHTTP
import Testing

@testable import CarpoolCache

struct RangeTests {
    private static let fresh = "Cache-Control: max-age=3600"
    private static let strongDate = "Last-Modified: Wed, 31 Dec 2025 23:58:00 GMT"

    @Test(
        "HR-01, HR-02: a range of a stored response of 10 bytes",
        arguments: [
            ([], ["Range: bytes=0-1"], 206, 0..<2, "bytes 0-1/10"),
            ([], ["Range: bytes=1-"], 206, 1..<10, "bytes 1-9/10"),
            ([], ["Range: bytes=-1"], 206, 9..<10, "bytes 9-9/10"),
            ([], ["Range: bytes=10-"], 416, 0..<0, "bytes */10"),
            (["ETag: \"a\""], ["Range: bytes=0-1", "If-Range: \"a\""], 206, 0..<2, "bytes 0-1/10"),
            (["ETag: \"a\""], ["Range: bytes=0-1", "If-Range: \"b\""], 200, nil, nil),
            (["ETag: W/\"a\""], ["Range: bytes=0-1", "If-Range: W/\"a\""], 200, nil, nil),
            (
                [strongDate], ["Range: bytes=0-1", "If-Range: Wed, 31 Dec 2025 23:58:00 GMT"], 206, 0..<2,
                "bytes 0-1/10"
            ), ([strongDate], ["Range: bytes=0-1", "If-Range: Wed, 31 Dec 2025 23:58:01 GMT"], 200, nil, nil),
            (
                ["Last-Modified: Wed, 31 Dec 2025 23:59:01 GMT"],
                ["Range: bytes=0-1", "If-Range: Wed, 31 Dec 2025 23:59:01 GMT"], 200, nil, nil
            ), (["ETag: \"a\""], ["Range: bytes=0-1", "If-None-Match: \"a\""], 304, 0..<0, nil),
        ] as [([String], [String], Int, Range<Int>?, String?)])
    func cut(stored: [String], request: [String], status: Int, range: Range<Int>?, contentRange: String?) throws {
        var scene = CacheScene()
        try scene.store([Self.fresh, "Content-Length: 10", "A: 1"] + stored)
        let answer = try scene.answer(scene.request(request))
        #expect(answer.head.status == status)
        #expect(answer.range == range)
        #expect(answer.head.fields.first("content-range") == contentRange)
        if status == 206 {
            #expect(answer.head.fields.first("a") == "1")
            #expect(answer.head.fields.all("content-length") == ["\(range?.count ?? -1)"])
        }
    }

    @Test("HR-01: several ranges and other units go to the origin; HEAD and errors have no range")
    func others() throws {
        var scene = CacheScene()
        try scene.store([Self.fresh])
        for range in ["bytes=0-1,3-4", "items=0-1", "bytes=4-3"] {
            #expect(try scene.word(scene.request(["Range: \(range)"])) == "forward range")
        }
        #expect(try scene.answer(scene.request(["Range: bytes=0-1"], method: "HEAD")).head.status == 200)
        scene.stored = []
        try scene.store([Self.fresh], status: 404)
        #expect(try scene.answer(scene.request(["Range: bytes=0-1"])).head.status == 404)
    }

    @Test("a range of a decoded body has a weak entity tag")
    func decoded() throws {
        var scene = CacheScene()
        try scene.store([Self.fresh, "ETag: \"a\"", "Content-Encoding: gzip"])
        let request = try scene.request(["Range: bytes=0-1"])
        #expect(try scene.answer(request).head.fields.all("etag") == ["W/\"a\""])
        scene.stored = []
        try scene.store([Self.fresh, "ETag: \"a\""])
        #expect(try scene.answer(request).head.fields.all("etag") == ["\"a\""])
    }

    @Test("a 206 answers a request for the same range, and no other")
    func part() throws {
        var scene = CacheScene()
        let request = try scene.request(["Range: bytes=-5"])
        try scene.store([Self.fresh, "Content-Range: bytes 5-9/10"], status: 206, for: request, bytes: 5)
        let answer = try scene.answer(request)
        #expect(answer.head.status == 206)
        #expect(answer.range == nil)
        #expect(answer.head.fields.first("content-range") == "bytes 5-9/10")
        for other in [[], ["Range: bytes=6-8"], ["Range: bytes=-5", "If-Range: \"a\""]] {
            #expect(try scene.word(scene.request(other)) == "forward range")
        }
        #expect(try scene.word(scene.request(["Range: bytes=-5"], method: "HEAD")) == "forward range")
        #expect(try scene.word(request, at: 3_600) == "forward expired")
        try scene.store([Self.fresh], at: 1)
        #expect(scene.stored.map(\.status) == [200], "the whole response replaces the part")
        let multiple = try scene.request(["Range: bytes=0-1,3-4"])
        #expect(try scene.store([Self.fresh], status: 206, for: multiple) == .notCacheableStatus)
    }

    @Test("a 304 to a validation of a range request")
    func validated() throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1", "ETag: \"a\""])
        let request = try scene.request(["Range: bytes=2-3"])
        #expect(try scene.forwarding(request).fields?.value("range") == "bytes=2-3")
        guard case .update(let update) = try scene.reception(304, [], for: request) else {
            throw CacheScene.Failure(message: "no update")
        }
        #expect(update.answer.head.status == 206)
        #expect(update.answer.range == 2..<4)
    }
}
