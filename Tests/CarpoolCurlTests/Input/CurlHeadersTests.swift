import Testing

@testable import CarpoolCurl

struct CurlHeadersTests {
    @Test("The fields are those that curl 8.14.1 sends, in its order", arguments: CurlHeaderCases.all)
    func fields(_ arguments: [String], _ expected: [String]) throws {
        let (request, context) = try CurlHeaderCases.parse(arguments)
        let headers = try CurlHeaders(request, context)
        #expect(headers.fields.map(\.line) == expected)
        #expect(headers.removesHost == arguments.contains("Host:"))
        #expect(headers.isChunked == expected.contains { $0.lowercased().hasSuffix(": chunked") })
    }

    @Test func aLineHasANameAndAValueWithoutBlanks() {
        let field = CurlHeaderField(custom: "X-A: \t b c \t")
        #expect(field?.name == "X-A")
        #expect(field?.value == "b c")
        #expect(field?.line == "X-A: \t b c \t")
    }

    @Test(
        "Lines of Host, as curl 8.14.1 sends them",
        arguments: [
            ("host: x", "Host: x"), ("HOST:x ", "Host:x "), ("Host: ", "Host: "), ("Host:\t", "Host:\t"),
            ("host;", "Host:"),
        ])
    func hosts(_ line: String, _ expected: String) throws {
        var context = CurlHeaderContext()
        context.lines = [line, "Host: second"]
        let headers = try CurlHeaders(CurlRequestOptions(), context)
        #expect(headers.fields.map(\.line) == [expected, "User-Agent: curl/8.14.1", "Accept: */*"])
        #expect(!headers.removesHost)
    }

    @Test("Lines with credentials do not go to another origin, cookies of -b do")
    func otherOrigins() throws {
        var request = CurlRequestOptions()
        request.cookies = ["c=1"]
        var context = CurlHeaderContext()
        context.lines = ["Authorization: x", "cookie: k=v", "Host: custom", "X: y"]
        context.isTrusted = false
        var lines = try CurlHeaders(request, context).fields.map(\.line)
        #expect(lines == ["Host: custom", "User-Agent: curl/8.14.1", "Accept: */*", "X: y"])
        context.lines = ["X: y"]
        context.isFirstHost = false
        lines = try CurlHeaders(request, context).fields.map(\.line)
        #expect(lines == ["User-Agent: curl/8.14.1", "Accept: */*", "Cookie: c=1", "X: y"])
        context.lines = ["Host: custom"]
        let headers = try CurlHeaders(request, context)
        #expect(headers.fields.map(\.line) == ["User-Agent: curl/8.14.1", "Accept: */*", "Cookie: c=1"])
        #expect(!headers.removesHost)
    }

    @Test("What may be HTTP/2 has no Expect, and libcurl leaves out the chunks unless it finds HTTP/1.1")
    func http2() throws {
        var context = CurlHeaderContext()
        context.isHTTP2 = true
        context.body = .upload(nil)
        context.lines = ["Transfer-Encoding: chunked", "X: y"]
        let headers = try CurlHeaders(CurlRequestOptions(), context)
        #expect(
            headers.fields.map(\.line) == [
                "User-Agent: curl/8.14.1", "Accept: */*", "Transfer-Encoding: chunked", "X: y",
            ])
        #expect(headers.isChunked && headers.mayExpectContinue)
        context.lines = []
        let own = try CurlHeaders(CurlRequestOptions(), context)
        #expect(own.fields.map(\.line) == ["User-Agent: curl/8.14.1", "Accept: */*", "Transfer-Encoding: chunked"])
    }

    @Test("Cookies of more than 8,199 bytes are refused as curl does")
    func longCookies() throws {
        #expect(try CurlHeaders.cookie([String(repeating: "x", count: 8_199)]) != nil)
        #expect(throws: CurlError(exitCode: 100, message: "A value or data field grew larger than allowed")) {
            _ = try CurlHeaders.cookie([String(repeating: "x", count: 4_100), String(repeating: "x", count: 4_099)])
        }
    }

    @Test func linesComeFromFilesAndJSON() throws {
        let text = "X-F: 1\r\n\n# c\n  #d\nX-G:2\n  X-H: 3\nlast"
        let folder = try TemporaryFolder(["lines": Array(text.utf8), "latin1": [0x41, 0x3A, 0xE9]])
        var request = CurlRequestOptions()
        request.headers = [.line("A: b"), .file("\(folder.path)/lines"), .line("accept;")]
        #expect(try CurlHeaderLines.read(request) == ["A: b", "X-F: 1", "X-G:2", "X-H: 3", "last", "accept;"])
        request.isJSON = true
        #expect(try CurlHeaderLines.read(request).suffix(2) == ["accept;", "Content-Type: application/json"])
        request.headers = [.file("/nonexistent")]
        #expect(throws: CurlError.self) {
            _ = try CurlHeaderLines.read([.file("\(folder.path)/latin1")])
        }
        #expect(throws: CurlError.unreadable("/nonexistent")) { _ = try CurlHeaderLines.read(request) }
    }
}
