import Testing

@testable import CarpoolCurl

struct CurlETagTests {
    @Test func theFileIsTheField() throws {
        let folder = try TemporaryFolder([
            "etag": Array("\"abc\"\r\n".utf8), "empty": [], "lines": Array("a\nb\n".utf8), "bytes": [0xFF],
        ])
        func line(_ name: String) throws -> String { try CurlETag.compareLine("\(folder.path)/\(name)").line }
        #expect(try line("etag") == "If-None-Match: \"abc\"")
        #expect(try line("empty") == "If-None-Match: \"\"")
        #expect(try line("lines") == "If-None-Match: ab")
        #expect(throws: CurlError.self) { _ = try line("bytes") }
        let (missing, warnings) = try CurlETag.compareLine("/nofile")
        #expect(missing == "If-None-Match: \"\"")
        #expect(warnings == ["Failed to open /nofile: No such file or directory"])
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
