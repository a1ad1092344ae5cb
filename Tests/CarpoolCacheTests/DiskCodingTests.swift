import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// The bytes of the index: what was written is read, and nothing else is.
struct DiskCodingTests {
    private static func sample() -> CachedResponse {
        var response = DiskBench.response(
            ["A: b", "C:", "Set-Cookie: x=\u{fe}", "A: b"],
            vary: [
                CachedResponse.VaryField(name: "accept", value: []),
                CachedResponse.VaryField(name: "b", value: nil),
            ], credentials: DiskBench.bytes(32), status: 999)
        response.ttlMilliseconds = -1
        response.bodyBytes = 12
        response.isInvalidated = true
        return response
    }

    @Test func aHeadIsReadAsItWasWritten() throws {
        let response = Self.sample()
        let read = try #require(ResponseCoding.decode(ResponseCoding.encode(response)))
        #expect(read.status == 999)
        #expect(read.httpVersion == "http/1.1")
        #expect(read.fields.lines == response.fields.lines)
        #expect(read.vary == response.vary)
        #expect(read.credentials == response.credentials)
        #expect(read.ttlMilliseconds == -1)
        #expect(read.isInvalidated)
        #expect(!read.isDecoded)
        #expect(read.bodyBytes == 12)
        // HF-05: the other clock was that of the run that wrote it.
        #expect(read.received.uptime == nil)
        #expect(read.requested == CacheTime(wall: response.requested.wall, uptime: nil))
        #expect(ResponseCoding.encode(read) == ResponseCoding.encode(response))
    }

    @Test func everyMissingOrChangedByteIsNoticed() {
        let bytes = ResponseCoding.encode(Self.sample())
        for count in 0..<bytes.count { #expect(ResponseCoding.decode(Array(bytes[..<count])) == nil) }
        #expect(ResponseCoding.decode(bytes + [0]) == nil)
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            #expect(ResponseCoding.decode(changed) == nil)
        }
        // Behind the checksum the coding is strict as well.
        let content = Array(bytes.dropLast(4))
        for count in 0..<content.count { #expect(ResponseCoding.decodeChecked(Array(content[..<count])) == nil) }
        #expect(ResponseCoding.decodeChecked(content + [0]) == nil)
    }

    /// Random bytes and random changes end in a head or in none.
    @Test func randomBytesAreNoHead() {
        var generator = SplitMix(state: 4)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<200, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            #expect(ResponseCoding.decode(bytes) == nil)
            _ = ResponseCoding.decodeChecked([1] + bytes)
        }
        let content = Array(ResponseCoding.encode(Self.sample()).dropLast(4))
        for _ in 0..<20_000 {
            var changed = content
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                changed[Int.random(in: 0..<content.count, using: &generator)] = UInt8.random(
                    in: .min ... .max, using: &generator)
            }
            guard let read = ResponseCoding.decodeChecked(changed) else { continue }
            #expect(ResponseCoding.decode(ResponseCoding.encode(read)) != nil)
        }
    }

    @Test func theChecksumIsCRC32C() {
        #expect(CRC32C.value(of: Array("123456789".utf8)) == 0xE306_9283)
        #expect(CRC32C.value(of: [UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(CRC32C.value(of: []) == 0)
        let bytes = DiskBench.bytes(1_000)
        for cut in [0, 1, 7, 8, 9, 500, 999, 1_000] {
            var checksum = CRC32C()
            Array(bytes[..<cut]).withUnsafeBytes { checksum.update($0) }
            Array(bytes[cut...]).withUnsafeBytes { checksum.update($0) }
            #expect(checksum.value == CRC32C.value(of: bytes))
        }
    }

    /// A variant is for the same requests: the order of `Vary` does not matter, the credentials do.
    @Test func variantsDifferByWhatSelectsThem() {
        let one = CachedResponse.VaryField(name: "a", value: [1])
        let two = CachedResponse.VaryField(name: "b", value: nil)
        let variants = [
            DiskBench.response(), DiskBench.response(vary: [one]), DiskBench.response(vary: [one, two]),
            DiskBench.response(vary: [CachedResponse.VaryField(name: "b", value: [])]),
            DiskBench.response(vary: [two]), DiskBench.response(credentials: [1]),
        ].map(ResponseCoding.variant)
        #expect(Set(variants).count == variants.count)
        #expect(
            ResponseCoding.variant(of: DiskBench.response(vary: [one, two]))
                == ResponseCoding.variant(of: DiskBench.response(["Other: x"], vary: [two, one], received: 5)))
    }
}

/// Random numbers that are the same in each run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
