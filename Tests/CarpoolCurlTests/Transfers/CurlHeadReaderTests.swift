import Testing

@testable import CarpoolCurl

struct CurlHeadReaderTests {
    private static let heads = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)

    @Test("The heads are found wherever the pieces are cut", arguments: 1...40)
    func pieces(_ size: Int) throws {
        let bytes = Array("00000013\n".utf8) + Self.heads + Array("body".utf8)
        var reader = CurlHeadReader()
        var found: (heads: [UInt8], rest: [UInt8])?
        var start = 0
        while found == nil, start < bytes.count {
            found = reader.read(Array(bytes[start..<min(start + size, bytes.count)]))
            start += size
        }
        let result = try #require(found)
        #expect(result.heads == Self.heads)
        #expect(result.rest + bytes.dropFirst(start) == Array("body".utf8))
    }

    @Test("The answers of a proxy come first", arguments: 1...60)
    func connect(_ size: Int) throws {
        let answer = Array("HTTP/1.1 200 made\r\n\r\n".utf8)
        let start = Array("00000015 000000000000002a\n".utf8) + answer
        let bytes = start + Array("00000013\n".utf8) + Self.heads + Array("body".utf8)
        var reader = CurlHeadReader(expectsConnect: true)
        var found: (heads: [UInt8], rest: [UInt8])?
        var place = 0
        while found == nil, place < bytes.count {
            found = reader.read(Array(bytes[place..<min(place + size, bytes.count)]))
            place += size
        }
        #expect(found?.heads == Self.heads)
        #expect(reader.connect?.bytes == answer)
        #expect(reader.connect?.connection == 42)
    }

    @Test func aResponseHeadIsTheLastOne() {
        let text =
            "HTTP/1.1 103 X\r\nLink: a\r\n\r\nHTTP/2 404 \r\nA: b \r\n folded\r\na:c\r\nb\r\nContent-Length: 5\r\n\r\n"
        let head = CurlResponseHead(Array(text.utf8))
        #expect(head.status == 404)
        #expect(head.version == "2")
        #expect(head.values("A") == ["b folded", "c"])
        #expect(head.value("link") == nil)
        #expect(head.contentLength == 5)
    }
}
