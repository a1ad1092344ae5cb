import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct RequestCompressorTests {
    private static func request(_ body: RequestBody, encoding: String? = nil) throws -> TransportRequest {
        var request = TransportRequest(method: .post, url: try HTTPURL("http://a.test/"))
        request.body = body
        if let encoding { request.fields = [try HTTPField(name: "content-encoding", value: encoding)] }
        return request
    }

    private static func encodings(_ request: TransportRequest) -> [String] {
        request.fields.filter { $0.isNamed("content-encoding") }.map(\.value)
    }

    private static func bytes(_ request: TransportRequest) -> [UInt8]? {
        if case .bytes(let bytes) = request.body { bytes } else { nil }
    }

    @Test("CO-07: zlib's level 5, with its two bytes and the big-endian check sum")
    func vectors() throws {
        #expect(
            try RequestCompressor.deflate([0], .deflate) == [0x78, 0x5E, 0x63, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01])
        let word = try RequestCompressor.deflate(Array("Wikipedia".utf8), .deflate)
        #expect(word.prefix(2) == [0x78, 0x5E])
        // Adler-32 of "Wikipedia" is 300286872.
        #expect(word.suffix(4) == [0x11, 0xE6, 0x03, 0x98])
    }

    @Test("gzip has its own header, without a time, so that the same body has the same bytes (RFC 1952)")
    func gzip() throws {
        let bytes = try RequestCompressor.deflate(Array(repeating: 0x61, count: 1_000), .gzip)
        #expect(bytes.prefix(4) == [0x1F, 0x8B, 0x08, 0x00])
        #expect(bytes[4..<8] == [0, 0, 0, 0])
        #expect(bytes.suffix(4) == [0xE8, 0x03, 0, 0])
        #expect(bytes.count < 50)
    }

    @Test("CO-01: a body in memory is compressed, and Content-Encoding is set", arguments: ["deflate", "gzip"])
    func compresses(_ name: String) throws {
        let format = try #require(RequestCompressor.Format(rawValue: name))
        let next = try RequestCompressor(format: format).compressed(try Self.request(.bytes([1, 2, 3])))
        #expect(Self.encodings(next) == [name])
        #expect(Self.bytes(next) == (try RequestCompressor.deflate([1, 2, 3], format)))
    }

    @Test("CO-02: no body, no change")
    func noBody() throws {
        let next = try RequestCompressor().compressed(try Self.request(.none))
        #expect(next.fields.isEmpty)
        if case .none = next.body {} else { Issue.record("a body appeared") }
    }

    @Test("CO-03: min_bytes", arguments: [(2, true), (3, true), (4, false)])
    func minimum(_ minimum: Int, _ compresses: Bool) throws {
        let next = try RequestCompressor(minimumBytes: minimum).compressed(try Self.request(.bytes([1, 2, 3])))
        #expect(Self.encodings(next).isEmpty != compresses)
        #expect((Self.bytes(next) == [1, 2, 3]) != compresses)
    }

    @Test("CO-04: a Content-Encoding that is there already fails the adaptation")
    func duplicate() throws {
        let request = try Self.request(.bytes([1]), encoding: "br")
        var name: String?
        do { _ = try RequestCompressor().compressed(request) } catch { name = error.name }
        #expect(name == "duplicate_header")
    }

    @Test("CO-05, CO-06: replaced, or left as it is")
    func replaceAndSkip() throws {
        let request = try Self.request(.bytes([1]), encoding: "br")
        let replaced = try RequestCompressor(duplicate: .replace).compressed(request)
        #expect(Self.encodings(replaced) == ["deflate"])
        #expect(Self.bytes(replaced) != [1])
        let skipped = try RequestCompressor(duplicate: .skip).compressed(request)
        #expect(Self.encodings(skipped) == ["br"])
        #expect(Self.bytes(skipped) == [1])
    }

    @Test("CO-04: a duplicate does not matter for a request without a body in memory")
    func duplicateWithoutBody() throws {
        let next = try RequestCompressor().compressed(try Self.request(.none, encoding: "br"))
        #expect(Self.encodings(next) == ["br"])
    }

    @Test("As an adapter it answers at once, once")
    func adapts() throws {
        let request = try Stage().request(RequestParameters(url: "http://a.test/"))
        var answers: [String] = []
        for encoding in [nil, "br"] {
            RequestCompressor().adapt(try Self.request(.bytes([1]), encoding: encoding), for: request) { answer in
                switch answer {
                case .success(let next): answers.append(Self.encodings(next).joined())
                case .failure(let error): answers.append(error.name)
                }
            }
        }
        #expect(answers == ["deflate", "duplicate_header"])
    }
}
