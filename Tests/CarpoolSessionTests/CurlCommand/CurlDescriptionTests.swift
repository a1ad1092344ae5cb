import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolSession
import CarpoolSystem
import Foundation
import Testing

/// The lines are run: what curl sends must be what our own transport sends (CU-08).
struct CurlDescriptionTests {
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdTCCARugAwIBAgIUGchis2HYuUyETeZ1AzgtZ7RzEmswCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEVGVzdDAgFw0yNjExMjIwMDU0MjlaGA8yMTI2MTAyOTAwNTQy
        OVowDzENMAsGA1UEAwwEVGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHig
        bYiMhpv2UQsItyVSTIawCPL4A8o84dbIey9KkpVVQ70YiJQKZtaJ8O4d4G8TSFrx
        CzJaRX25HYIbr7pLuJOjUzBRMB0GA1UdDgQWBBSuShuKeWO60wxLx7wE5lrEDyL+
        eDAfBgNVHSMEGDAWgBSuShuKeWO60wxLx7wE5lrEDyL+eDAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIDqRUQ0o6l6XTvEGdrodK/FatGwrqaiuI6O8
        Vb3POLvpAiEA4VYRwYKKMn12eZwLBf1mD5tkdtiL94HpMjGM+VaEk4U=
        -----END CERTIFICATE-----
        """

    private static func request(_ method: String, _ url: String, _ fields: [(String, String)] = []) throws
        -> TransportRequest
    {
        TransportRequest(
            method: try #require(HTTPMethod(method)), url: try HTTPURL(url),
            fields: try fields.map { try HTTPField(name: $0.0, value: $0.1) })
    }

    /// A row of curl.jsonl; `base` stands for its http://a.test.
    private static func request(_ row: JSON, base: String = "http://a.test") throws -> TransportRequest {
        let url = try #require(row["url"]?.string).replacingOccurrences(of: "http://a.test", with: base)
        var fields: [(String, String)] = []
        row["headers"]?.forEachElement { fields.append(($0[index: 0]?.string ?? "", $0[index: 1]?.string ?? "")) }
        var request = try request(row["method"]?.string ?? "GET", url, fields)
        if let text = row["text"]?.string { request.body = .bytes(Array(text.utf8)) }
        if let bytes = row["bytes"] {
            var body: [UInt8] = []
            bytes.forEachElement { body.append(UInt8(truncatingIfNeeded: $0.int ?? 0)) }
            request.body = .bytes(body)
        }
        if let decodes = row["decode"]?.bool { request.decodesContent = decodes }
        if let value = row["timeout_ms"]?.int { request.resourceTimeoutMilliseconds = value }
        if let value = row["connect_timeout_ms"]?.int { request.connectTimeoutMilliseconds = value }
        if row["http_version"]?.isString("1.1") == true { request.httpVersion = .http1 }
        if row["verify"]?.bool == false { request.partition.trust = .none }
        if let path = row["ca_file"]?.string {
            let store = try TrustStore(pem: Array(certificate.utf8))
            request.partition.trust = .authorities(TrustedAuthorities(store, path: path))
        }
        return request
    }

    private static func redirect(_ row: JSON) -> RedirectHandler? {
        guard let json = row["redirect"] else { return nil }
        var handler = RedirectHandler(json.isString("do_not_follow") ? .doNotFollow : .follow)
        if let value = json["max_hops"]?.int { handler.maximumHops = value }
        if let value = json["keep_method"]?.bool { handler.keepsMethod = value }
        if let value = json["allow_downgrade"]?.bool { handler.allowsDowngrade = value }
        if json["keep_authorization"]?.isString("always") == true { handler.authorization = .always }
        return handler
    }

    /// Runs a line in a shell whose environment would spoil it if it could.
    private static func run(_ line: String, shell: String) throws -> Int32 {
        let home = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        try Data("user-agent = \"spoiled\"\n".utf8).write(to: home.appending(path: ".curlrc"))
        let process = Process()
        process.executableURL = URL(filePath: shell)
        // No argument may be that long, but a script may.
        let script = home.appending(path: "script")
        try Data(line.utf8).write(to: script)
        process.arguments = line.utf8.count > 100_000 ? [script.path] : ["-c", line]
        process.environment = [
            "PATH": "/usr/bin:/bin", "HOME": home.path, "http_proxy": "http://127.0.0.1:1", "LC_ALL": "C",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Sends the request in each way and compares what arrives.
    private static func expectSame(_ request: TransportRequest, at origin: RecordingOrigin, _ note: String) throws {
        try SingleExchange.run(request)
        let sent = origin.take()
        #expect(sent.count == 1)
        let line = CurlDescription.text(for: request, reveal: true)
        for shell in ["/bin/sh", "/bin/bash"] {
            #expect(try run(line, shell: shell) == 0, "\(note) in \(shell)")
            let received = origin.take()
            #expect(received.map(\.head) == sent.map(\.head), "\(note) in \(shell)")
            #expect(received.map(\.body) == sent.map(\.body), "\(note) in \(shell)")
        }
    }

    @Test("CU-01, CU-04, CU-05: the lines of curl.jsonl")
    func golden() throws {
        for row in try Vectors.rows("curl") {
            let line = CurlDescription.text(
                for: try Self.request(row), reveal: row["reveal"]?.bool ?? false, redirect: Self.redirect(row))
            #expect(line == row["line"]?.string, "\(row["note"]?.string ?? "")")
        }
    }

    @Test("CU-08: a line run by sh and by bash sends what the transport sends", .timeLimit(.minutes(2)))
    func replayed() throws {
        let origin = try RecordingOrigin()
        defer { origin.end() }
        for row in try Vectors.rows("curl") where row["url"]?.string?.hasPrefix("http://a.test/") == true {
            let request = try Self.request(row, base: "http://127.0.0.1:\(origin.port)")
            try Self.expectSame(request, at: origin, row["note"]?.string ?? "")
        }
    }

    @Test("CU-08: every byte, and a body that no argument can hold", .timeLimit(.minutes(2)))
    func largeBodies() throws {
        let origin = try RecordingOrigin()
        defer { origin.end() }
        var request = try Self.request("PUT", "http://127.0.0.1:\(origin.port)/")
        request.body = .bytes((0..<1_024).map { UInt8(truncatingIfNeeded: $0) })
        try Self.expectSame(request, at: origin, "every byte")
        request.body = .bytes(Array(String(repeating: "100 % 'sure'\\n -\n", count: 10_000).utf8))
        try Self.expectSame(request, at: origin, "160 KB of text")
        #expect(CurlDescription.text(for: request).hasPrefix("printf '"))
    }

    @Test("CU-08: bodies from files, whole and in part", .timeLimit(.minutes(2)))
    func files() throws {
        let origin = try RecordingOrigin()
        defer { origin.end() }
        let path = FileManager.default.temporaryDirectory.appending(path: "it's \(UUID().uuidString)").path
        let content = (0..<5_000).map { UInt8(truncatingIfNeeded: $0) }
        try Data(content).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var request = try Self.request("POST", "http://127.0.0.1:\(origin.port)/", [("Content-Type", "x/y")])
        for (offset, length) in [(0, 5_000), (0, 1_300), (7, 4_000), (4_999, 1), (5_000, 0)] as [(Int64, Int64)] {
            let file = BodyFile(try FileDescriptor.open(path, O_RDONLY), path: path, sizeBytes: 5_000)
            request.body = .file(file, offset: offset, length: length)
            try Self.expectSame(request, at: origin, "\(length) from \(offset)")
            #expect(CurlDescription.text(for: request).contains("--data-binary '@/") == (length == 5_000))
        }
        request.body = .file(BodyFile(try FileDescriptor.open(path, O_RDONLY)), offset: 0, length: 5_000)
        #expect(CurlDescription.text(for: request).contains("--data-binary @-"))
    }

    /// The request lines that the session would send, by our own rules.
    private static func hops(_ request: TransportRequest, _ handler: RedirectHandler, _ status: Int) -> [String] {
        let step = handler.step(after: .make(status, [("Location", "/landed")]), to: request, hop: 1)
        guard case .follow(let next) = step else { return ["\(request.method.rawValue) /to/\(status)"] }
        let bodies = [request, next].map { next in if case .none = next.body { "" } else { " body" } }
        return ["\(request.method.rawValue) /to/\(status)\(bodies[0])", "\(next.method.rawValue) /landed\(bodies[1])"]
    }

    @Test(
        "Redirects are followed as the session follows them", .timeLimit(.minutes(2)),
        arguments: [
            ("GET", 302, false), ("HEAD", 303, false), ("POST", 301, false), ("POST", 302, true), ("POST", 303, false),
            ("POST", 303, true), ("POST", 307, false), ("PUT", 302, false), ("PUT", 308, false), ("DELETE", 301, false),
        ])
    func redirects(_ method: String, _ status: Int, _ keepsMethod: Bool) throws {
        let origin = try RecordingOrigin()
        defer { origin.end() }
        var request = try Self.request(method, "http://127.0.0.1:\(origin.port)/to/\(status)")
        if method == "POST" || method == "PUT" { request.body = .bytes([0x61]) }
        var handler = RedirectHandler.follow
        handler.keepsMethod = keepsMethod
        _ = try Self.run(CurlDescription.text(for: request, redirect: handler), shell: "/bin/sh")
        let lines = origin.take().map { recorded in
            let words = (recorded.head.first ?? "").split(separator: " ").prefix(2).joined(separator: " ")
            return recorded.body.isEmpty ? words : "\(words) body"
        }
        #expect(lines == Self.hops(request, handler, status))
    }

    @Test("Not followed, or limited to none: one request", arguments: [false, true])
    func notFollowed(_ follows: Bool) throws {
        let origin = try RecordingOrigin()
        defer { origin.end() }
        let request = try Self.request("GET", "http://127.0.0.1:\(origin.port)/to/302")
        let line = CurlDescription.text(for: request, redirect: follows ? .limited(to: 0) : .doNotFollow)
        #expect(try Self.run(line, shell: "/bin/sh") == (follows ? 47 : 0))
        #expect(origin.take().count == 1)
    }

    @Test(
        "Secrets are masked unless they are wanted",
        arguments: ["authorization", "Cookie", "X-API-Key", "X-Auth-Token"])
    func secrets(_ name: String) throws {
        let request = try Self.request("GET", "http://user:hidden-word@a.test/", [(name, "s3cret")])
        let masked = CurlDescription.text(for: request)
        #expect(masked.contains("-H '\(name): (hidden)'"))
        #expect(!masked.contains("s3cret") && !masked.contains("hidden-word"))
        #expect(CurlDescription.text(for: request, reveal: true).contains("-H '\(name): s3cret'"))
    }
}
