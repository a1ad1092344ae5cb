import Testing

@testable import CarpoolCurl

/// The expectations are the files that the real curl 8.14.1 made.
struct CurlFileNameTests {
    static let urls: [(String, String?)] = [
        ("", nil), ("/", nil), ("/a", "a"), ("/a/", "a"), ("/a/b", "b"), ("/a/b/", "b"), ("/a//", ""), ("//", ""),
        ("/a/b//", ""), ("/a?q", "a"), ("/a/?q=/x", "a"), ("/a#f", "a"), ("/a%20b", "a%20b"), ("/a\\b", "b"),
        ("/a\\", "a"),
        ("/a/b\\c/", "c"), ("/..", nil), ("/a/../b", "b"), ("/a/..", nil), ("/é", "é"), ("/a;b", "a;b"),
        ("/%2f", "%2f"),
        ("/a/.", "a"), ("/.hidden", ".hidden"), ("/a:b", "a:b"), ("/a%00", "a%00"),
    ]

    @Test("Names of -O", arguments: urls)
    func remoteNames(_ path: String, _ expected: String?) throws {
        #expect(try CurlFileName.remote("http://h\(path)") == expected)
        #expect(try CurlFileName.remote("h:80\(path)") == expected)
    }

    @Test func aTextThatIsNoURLHasNoName() throws {
        let error = try #require(throws: CurlError.self) { _ = try CurlFileName.remote("http://h h/x") }
        #expect(error.exitCode == 3)
        #expect(error.line == "curl: (3) URL using bad/illegal format or missing URL")
        #expect(error.reasons == ["Failed to extract a filename from the URL to use for storage"])
    }

    static let fields: [(String, String?)] = [
        ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b.txt\"", "a b.txt"),
        ("attachment; filename='a;b'", "a;b"), ("attachment;filename=a.txt;x=y", "a.txt"), ("filename=a", "a"),
        ("attachment; filename=\"../../x\"", "x"), ("attachment; filename=\"a/b/c\"", "c"),
        ("attachment; filename=\"a\\b\"", "b"), ("attachment; filename=\"x/\"", nil),
        ("attachment; filename=\"x\\\"", nil), ("attachment; filename=x/", ""), ("attachment; filename=x/; y", nil),
        ("attachment; filename=\"\"", ""), ("attachment; filename=", ""),
        ("attachment; FILENAME=a", nil), ("attachment; filename*=UTF-8''e; filename=b", "b"),
        ("attachment; filename=b; filename=c", "b"), ("attachment; name=filename=z", nil),
        ("attachment; xfilename=z", nil), ("attachment; filename =z", nil), ("attachment; filename= z", " z"),
        ("inline; filename=\"é.txt\"", "é.txt"), ("attachment", nil), ("attachment; filename=\"unclosed", "unclosed"),
        ("attachment; filename=a b", "a b"), ("attachment; filename=\"a\tb\"", "a\tb"),
        ("attachment; filename=\"..\"", ".."), ("attachment; filename=.bashrc", ".bashrc"),
        ("attachment; filename=\"a\\\"b\"", nil), ("attachment; foo=\"filename=q\"; filename=r", "r"), ("f", nil),
        ("attachment; filename=a ", "a "), ("attachment; filename=\"a\" ; x", "a"), ("attachment;;filename=b", "b"),
        ("attachment, filename=c", nil), ("=filename=d", "d"), ("1filename=e", "e"),
        ("attachment; filename=a%20b", "a%20b"), ("attachment; filename=\"C:\\x\\y.z\"", "y.z"), ("", nil),
    ]

    @Test("Names of -J", arguments: fields)
    func dispositions(_ value: String, _ expected: String?) {
        #expect(CurlFileName.disposition(value) == expected)
    }

    @Test func namesAreInTheFolder() {
        #expect(CurlFileName.path("a", in: nil) == "a")
        #expect(CurlFileName.path("a", in: "") == "a")
        #expect(CurlFileName.path("a", in: "d/e") == "d/e/a")
        #expect(CurlFileName.path("/x/abs", in: "d") == "d//x/abs")
    }
}
