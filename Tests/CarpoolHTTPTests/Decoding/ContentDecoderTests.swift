import Testing

@testable import CarpoolHTTP

/// Streams of each content coding, cut off at each byte.
struct ContentDecoderTests {
    private struct Decoded {
        var bytes: [UInt8] = []
        var end = Codec.End.whole
    }

    /// Decodes pieces of a body.
    private func decode(
        _ codings: [ContentCoding], _ body: ArraySlice<UInt8>, piece: Int
    ) throws(TransportError) -> Decoded {
        let decoder = ContentDecoder(codings)
        var decoded = Decoded()
        for start in stride(from: body.startIndex, to: body.endIndex, by: piece) {
            let input = Array(body[start..<min(start + piece, body.endIndex)])
            let result = input.withUnsafeBytes { input in
                Result { () throws(TransportError) in
                    while try decoder.fill(from: input) {
                        decoder.withOutput { decoded.bytes += $0 }
                        decoder.dropOutput()
                    }
                }
            }
            try result.get()
            decoder.finishPiece()
        }
        decoded.end = decoder.end?.end ?? .whole
        return decoded
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// A stream, and the length of the checksum behind its data that may be missing.
    struct Stream: CustomTestStringConvertible, Sendable {
        let name: String
        let coding: ContentCoding
        let body: [UInt8]
        let checksumBytes: Int
        /// Where a stream ends that is followed by another.
        var ends: [Int] = []

        var testDescription: String { name }
    }

    private static let gzip = bytes(
        "1f8b08000000000002034a5448ca4fa954c84f53284e2d4b2d4acc5148cac94fce2ed65148244306000000ffff626064"
            + "6266616563e7e0e4e2e6e1e5e3171014121611151397909492969195935750545256515553d7d0d4d2d6d1d5d3373034"
            + "3236313533b7b0b4b2b6b1b5b307000000ffff4bcd4b4925170100ec4ae393ca000000")
    private static let stored = bytes(
        "1f8b0800000000000403010600f9ff73746f7265640bf9435606000000")
    private static let bare = bytes(
        "4a5448ca4fa954c84f53284e2d4b2d4acc5148cac94fce2ed65148244306000000ffff6260646266616563e7e0e4e2e6"
            + "e1e5e3171014121611151397909492969195935750545256515553d7d0d4d2d6d1d5d33730343236313533b7b0b4b2b6"
            + "b1b5b307000000ffff4bcd4b4925170100")
    private static let wrapped = bytes(
        "78da4a5448ca4fa954c84f53284e2d4b2d4acc5148cac94fce2ed65148244306000000ffff6260646266616563e7e0e4"
            + "e2e6e1e5e3171014121611151397909492969195935750545256515553d7d0d4d2d6d1d5d33730343236313533b7b0b4"
            + "b2b6b1b5b307000000ffff4bcd4b4925170100e9683b8d")
    private static let brotli = bytes(
        "1bc900e065705eaab30ea7cc6a62c68143d75b003a701d38e43cc120fdbeb67e97d5c22ccf7f032a6260078af0898781"
            + "0813cab8904a1beb7c882997aa6edaae1fc6695eceeb08")
    private static let zstd = bytes(
        "28b52ffd24ca450300d4056120626f6479206f66207365766572616c20626c6f636b732c20000102030405060708090a"
            + "0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a"
            + "3b3c3d3e3f656e640200837567347dce313fb3fc6f")

    private static let streams = [
        Stream(name: "gzip", coding: .gzip, body: gzip, checksumBytes: 8),
        Stream(name: "a stored block", coding: .gzip, body: stored, checksumBytes: 8),
        Stream(name: "two members", coding: .gzip, body: gzip + stored, checksumBytes: 8, ends: [gzip.count]),
        Stream(name: "deflate", coding: .deflate, body: wrapped, checksumBytes: 4),
        Stream(name: "bare deflate", coding: .deflate, body: bare, checksumBytes: 0),
        Stream(name: "brotli", coding: .brotli, body: brotli, checksumBytes: 0),
        Stream(name: "zstd", coding: .zstd, body: zstd, checksumBytes: 0),
        Stream(name: "two frames", coding: .zstd, body: zstd + zstd, checksumBytes: 0, ends: [zstd.count]),
    ]

    @Test("A stream that is cut off anywhere is not whole", arguments: streams, [1, 7, 1_000])
    func cut(_ stream: Stream, _ piece: Int) throws {
        let whole = try decode([stream.coding], stream.body[...], piece: piece)
        #expect(whole.end == .whole)
        for count in stream.body.indices {
            let cut = try decode([stream.coding], stream.body[..<count], piece: piece)
            let isEnd = count == 0 || stream.ends.contains(count)
            // The data of the first member is whole, too, when its checksum is missing.
            let ends = stream.ends + [stream.body.count]
            let isUnchecked = ends.contains { $0 - stream.checksumBytes..<$0 ~= count }
            #expect(cut.end == (isEnd ? .whole : isUnchecked ? .unchecked : .cut), "\(count) of \(stream.body.count)")
            #expect(whole.bytes.starts(with: cut.bytes))
            if isUnchecked, count > stream.body.count - stream.checksumBytes { #expect(cut.bytes == whole.bytes) }
        }
    }

    @Test("Of several codings the worst end counts")
    func several() throws {
        func wrap(_ body: [UInt8]) -> [UInt8] {
            let length = UInt16(body.count)
            let header: [UInt8] = [0x78, 0x01, 0x01, UInt8(length & 0xFF), UInt8(length >> 8)]
            let complement = [UInt8(~length & 0xFF), UInt8(~length >> 8)]
            return header + complement + body
        }
        let inner = ContentDecoderTests.stored
        // The outer coding has no checksum here.
        for (count, end) in [
            (inner.count, Codec.End.unchecked), (inner.count - 8, .unchecked), (inner.count - 9, .cut),
        ] {
            let decoded = try decode([.gzip, .deflate], wrap(Array(inner[..<count]))[...], piece: 5)
            #expect(decoded.end == end)
        }
        #expect(try decode([.gzip, .deflate], [], piece: 5).end == .whole)
    }
}
