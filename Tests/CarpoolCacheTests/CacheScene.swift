import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// A request with what is stored for it: the rules are asked, and the clock is a number.
struct CacheScene {
    /// 2026-01-01T00:00:00Z in milliseconds.
    static let start: Int64 = 1_767_225_600_000
    static let date = "Thu, 01 Jan 2026 00:00:00 GMT"

    var settings = CacheSettings()
    var use = CacheUse.Values(store: CacheStoreName(user: nil, name: "test"))
    var stored: [CachedResponse] = []
    let hash = KeyedHash(key: [UInt8](repeating: 7, count: 32))

    var policy: CachePolicy { CachePolicy(settings: settings) }

    static func time(_ seconds: Double) -> CacheTime {
        let milliseconds = Int64(seconds * 1_000)
        return CacheTime(wall: start + milliseconds, uptime: 1_000_000 + milliseconds)
    }

    /// Fields written as `Name: value`.
    static func block(_ lines: [String]) -> FieldBlock {
        var block = FieldBlock()
        for line in lines { _ = Array(line.utf8).withUnsafeBytes { block.append(line: $0) } }
        return block
    }

    static func head(_ status: Int, _ lines: [String]) -> ResponseHead {
        ResponseHead(status: status, httpVersion: "http/1.1", fields: block(lines))
    }

    static func fields(_ lines: [String]) -> [HTTPField] {
        lines.compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return try? HTTPField(name: String(parts[0]), value: String(parts[1]))
        }
    }

    func request(
        _ lines: [String] = [], method: String = "GET", url: String = "http://a.test/x", credentials: [UInt8]? = nil,
        decodes: Bool = true, body: RequestBody = .none, jar: String? = nil
    ) throws -> CacheRequest {
        let method = try #require(HTTPMethod(method))
        var request = TransportRequest(method: method, url: try HTTPURL(url), fields: Self.fields(lines))
        request.decodesContent = decodes
        request.body = body
        let cookie = try jar.map { try HTTPField(name: "Cookie", value: $0) }
        request.hopFields = HopFields(authorization: nil, proxyAuthorization: nil, cookie: cookie)
        return CacheRequest(request, use: CacheUse(use), credentials: credentials, hash: hash)
    }

    /// Stores a response that was received at the start, or later. Returns why it was refused.
    @discardableResult mutating func store(
        _ lines: [String], status: Int = 200, for request: CacheRequest? = nil, at seconds: Double = 0,
        bytes: Int = 10
    ) throws -> CacheReason? {
        let storing = policy.storing(
            Self.head(status, lines), of: try request ?? self.request(), in: stored, requested: Self.time(seconds),
            received: Self.time(seconds))
        for index in storing.removed.sorted(by: >) { stored.remove(at: index) }
        guard var response = storing.response else { return storing.refusal }
        response.bodyBytes = bytes
        stored.append(response)
        return nil
    }

    /// What is done so many seconds after the start.
    func action(_ request: CacheRequest? = nil, at seconds: Double = 3) throws -> CacheAction {
        policy.action(for: try request ?? self.request(), in: stored, at: Self.time(seconds))
    }

    /// ``action(_:at:)`` in words: `serve fresh`, `validate expired` and the like.
    func word(_ request: CacheRequest? = nil, at seconds: Double = 3) throws -> String {
        switch try action(request, at: seconds) {
        case .serve(let answer): "serve \(answer.reason.rawValue)"
        case .serveAndRevalidate(let answer, _): "background \(answer.reason.rawValue)"
        case .revalidate(let forwarding): "validate \(forwarding.reason.rawValue)"
        case .forward(let forwarding): "forward \(forwarding.reason.rawValue)"
        case .fail(let reason): "fail \(reason.rawValue)"
        }
    }

    /// The answer that is served.
    func answer(_ request: CacheRequest? = nil, at seconds: Double = 3) throws -> CacheAnswer {
        guard case .serve(let answer) = try action(request, at: seconds) else {
            throw Failure(message: "nothing is served, but \(try word(request, at: seconds))")
        }
        return answer
    }

    /// How the origin is asked.
    func forwarding(_ request: CacheRequest? = nil, at seconds: Double = 3) throws -> CacheForwarding {
        switch try action(request, at: seconds) {
        case .revalidate(let forwarding), .forward(let forwarding), .serveAndRevalidate(_, let forwarding): forwarding
        default: throw Failure(message: "the origin is not asked, but \(try word(request, at: seconds))")
        }
    }

    /// What a head means that arrives for a request.
    func reception(
        _ status: Int, _ lines: [String], for request: CacheRequest? = nil, at seconds: Double = 3
    ) throws -> CacheReception {
        let request = try request ?? self.request()
        return policy.reception(
            of: Self.head(status, lines), for: request, after: try forwarding(request, at: seconds), in: stored,
            requested: Self.time(seconds), received: Self.time(seconds))
    }

    struct Failure: Error {
        let message: String
    }
}

extension [HTTPField] {
    /// The value of the field of that name.
    func value(_ name: String) -> String? { first { $0.hasName(name) }?.value }
}
