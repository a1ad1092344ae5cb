import Testing

@testable import CarpoolCurl

struct CurlETagTests {
    @Test func theFileIsTheField() throws {
        let folder = try TemporaryFolder([
            "etag": Array("\"abc\"\r\n".utf8), "empty": [], "lines": Array("a\nb\n".utf8), "bytes": [0xFF],
        ])
        func compared(_ name: String) -> (line: String, warnings: [String]) {
            CurlETag.compareLine("\(folder.path)/\(name)")
        }
        #expect(compared("etag") == ("If-None-Match: \"abc\"", []))
        #expect(compared("empty") == ("If-None-Match: \"\"", []))
        #expect(compared("lines") == ("If-None-Match: ab", []))
        let path = "\(folder.path)/bytes"
        #expect(compared("bytes") == ("If-None-Match: \"\"", ["The ETag in \(path) is not UTF-8, and is not sent"]))
        let missing = CurlETag.compareLine("/nofile")
        #expect(missing == ("If-None-Match: \"\"", ["Failed to open /nofile: No such file or directory"]))
    }

    @Test func theLastETagIsSaved() {
        func content(_ status: Int, _ etags: [String]) -> String? {
            CurlETag.content(status: status, etags: etags).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(content(200, ["\"a\"", " W/\"b\" "]) == "W/\"b\"\n")
        #expect(content(304, ["x"]) == "x\n")
        #expect(content(200, ["x", " "]) == "x\n")
        #expect(content(404, ["x"]) == nil)
        #expect(content(200, []) == nil)
    }
}
