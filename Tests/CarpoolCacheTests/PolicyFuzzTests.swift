import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// Fields of any bytes, and of any size.
struct PolicyFuzzTests {
    private static let pieces: [String] = [
        "max-age=", "no-cache", "no-store", "private=\"", "\"", "\\", ",", " ", "=", "*", "W/\"", "bytes=", "-", "0",
        "99999999999999999999", "Thu, 01 Jan 2026 00:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "stale-if-error=",
        "must-understand", "foo", "\u{e9}", "s-maxage=5", "immutable", "\t", "stale-while-revalidate=9",
    ]
    private static let names = [
        "Cache-Control", "Vary", "ETag", "Last-Modified", "Date", "Expires", "Age", "Connection", "Content-Range",
        "Content-Length", "Content-Encoding", "Pragma", "Clear-Site-Data", "Location",
    ]
    private static let requestNames = [
        "Cache-Control", "Pragma", "If-None-Match", "If-Modified-Since", "Range", "If-Range", "Foo", "Accept-Language",
        "If-Match",
    ]

    private func lines(_ names: [String], _ generator: inout SystemRandomNumberGenerator) -> [String] {
        (0..<Int.random(in: 0...6, using: &generator)).map { _ in
            let count = Int.random(in: 0...6, using: &generator)
            let value = (0..<count).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
            return "\(names.randomElement(using: &generator) ?? "A"): \(value)"
        }
    }

    @Test("no field makes an answer that is not whole", .timeLimit(.minutes(1)))
    func randomFields() throws {
        var generator = SystemRandomNumberGenerator()
        let methods = ["GET", "GET", "GET", "HEAD", "POST"]
        for _ in 0..<3_000 {
            var scene = CacheScene()
            scene.settings.mode = Bool.random(using: &generator) ? .privateCache : .sharedCache
            scene.settings.staleIfErrorMilliseconds = Int.random(in: 0...10_000, using: &generator)
            scene.use.policy = RequestCachePolicy.allCases.randomElement(using: &generator) ?? .useProtocol
            for _ in 0..<3 {
                let status = [200, 200, 206, 301, 404].randomElement(using: &generator) ?? 200
                let request = try scene.request(lines(Self.requestNames, &generator))
                try scene.store(lines(Self.names, &generator), status: status, for: request)
            }
            let method = methods.randomElement(using: &generator) ?? "GET"
            let request = try scene.request(lines(Self.requestNames, &generator), method: method)
            check(scene, request, lines(Self.names, &generator), &generator)
        }
    }

    private func check(
        _ scene: CacheScene, _ request: CacheRequest, _ head: [String], _ generator: inout SystemRandomNumberGenerator
    ) {
        let now = CacheScene.time(Double.random(in: -5...30, using: &generator))
        switch scene.policy.action(for: request, in: scene.stored, at: now) {
        case .serve(let answer): check(answer, scene)
        case .serveAndRevalidate(let answer, _): check(answer, scene)
        case .forward(let forwarding), .revalidate(let forwarding):
            let status = [200, 304, 304, 503, 206].randomElement(using: &generator) ?? 200
            let reception = scene.policy.reception(
                of: CacheScene.head(status, head), for: request, after: forwarding, in: scene.stored, requested: now,
                received: now)
            switch reception {
            case .update(let update): check(update.answer, scene)
            case .serve(let answer): check(answer, scene)
            case .deliver(let storing): #expect(storing.removed.allSatisfy(scene.stored.indices.contains))
            case .sendAgain: #expect(!forwarding.candidates.isEmpty)
            }
        case .fail: break
        }
        _ = scene.policy.sharingSignature(of: request, in: scene.stored)
    }

    private func check(_ answer: CacheAnswer, _ scene: CacheScene) {
        guard let index = answer.index else { return #expect(answer.head.status == 504) }
        #expect(scene.stored.indices.contains(index))
        #expect(answer.head.isStored)
        #expect(answer.head.fields.all("age").count == 1 || answer.head.status == 416)
        if let range = answer.range { #expect(range.upperBound <= scene.stored[index].bodyBytes) }
        if answer.head.status == 200 { #expect(answer.range == nil || answer.range == 0..<0) }
    }

    @Test("fields of 64 KiB, and thousands of members, take linear time", .timeLimit(.minutes(1)))
    func large() throws {
        let members = (0..<8_000).map { "name\($0)" }.joined(separator: ", ")
        let quotes = String(repeating: "\"\\", count: 32_000)
        var scene = CacheScene()
        for value in [members, quotes, String(repeating: ",", count: 65_000), String(repeating: "9", count: 65_000)] {
            let lines = Self.names.map { "\($0): \(value)" } + ["Cache-Control: max-age=1", "ETag: \"a\""]
            try scene.store(lines)
            try scene.store(
                ["Cache-Control: max-age=1", "ETag: \(value)", "Vary: Foo"], for: scene.request(["Foo: \(value)"]))
            let request = try scene.request(Self.requestNames.map { "\($0): \(value)" })
            _ = try scene.word(request)
            _ = try scene.word(scene.request(["If-None-Match: \(value)", "Foo: \(value)"]))
        }
    }
}
