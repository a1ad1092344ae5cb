import Testing

@testable import CarpoolCurl

/// The expectations are the URLs that the real curl 8.14.1 requested, and its messages.
struct CurlGlobTests {
    static let patterns: [(String, [String])] = [
        ("http://h/a", ["http://h/a"]),
        ("http://h/{a,b}", ["http://h/a", "http://h/b"]),
        ("http://h/x{a,b}y{c,d}z", ["http://h/xaycz", "http://h/xaydz", "http://h/xbycz", "http://h/xbydz"]),
        ("http://h/[1-3]", ["http://h/1", "http://h/2", "http://h/3"]),
        ("http://h/[001-003]", ["http://h/001", "http://h/002", "http://h/003"]),
        ("http://h/[1-10:3]", ["http://h/1", "http://h/4", "http://h/7", "http://h/10"]),
        ("http://h/[a-c]", ["http://h/a", "http://h/b", "http://h/c"]),
        ("http://h/[A-C:2]", ["http://h/A", "http://h/C"]),
        ("http://h/[a-z:25]", ["http://h/a", "http://h/z"]),
        ("http://h/[5-5]", ["http://h/5"]),
        ("http://h/[a-a]", ["http://h/a"]),
        ("http://h/[1- 3]", ["http://h/1", "http://h/2", "http://h/3"]),
        ("http://h/[01-1]", ["http://h/01"]),
        (
            "http://h/[0-10]",
            [
                "http://h/0", "http://h/1", "http://h/2", "http://h/3", "http://h/4", "http://h/5", "http://h/6",
                "http://h/7", "http://h/8", "http://h/9", "http://h/10",
            ]
        ),
        (
            "http://h/[00-010]",
            [
                "http://h/00", "http://h/01", "http://h/02", "http://h/03", "http://h/04", "http://h/05", "http://h/06",
                "http://h/07", "http://h/08", "http://h/09", "http://h/10",
            ]
        ),
        (
            "http://h/[Z-a]",
            [
                "http://h/Z", "http://h/[", "http://h/\\", "http://h/]", "http://h/^", "http://h/_", "http://h/`",
                "http://h/a",
            ]
        ),
        ("http://h/{a}", ["http://h/a"]),
        ("http://h/{a,}", ["http://h/a", "http://h/"]),
        ("http://h/{,a}", ["http://h/", "http://h/a"]),
        ("http://h/{a,,b}", ["http://h/a", "http://h/", "http://h/b"]),
        ("http://h/\\{a\\}", ["http://h/{a}"]),
        ("http://h/\\[1-3\\]", ["http://h/[1-3]"]),
        ("http://h/a\\b", ["http://h/a\\b"]),
        ("http://h/{a\\,b,c}", ["http://h/a,b", "http://h/c"]),
        ("http://h/{\\}}", ["http://h/}"]),
        ("http://h/[]", ["http://h/[]"]),
        ("http://h/[]x[1-2]", ["http://h/[]x1", "http://h/[]x2"]),
        ("http://[::1]", ["http://[::1]"]),
        ("http://[fe80::1%25lo]/[1-2]", ["http://[fe80::1%25lo]/1", "http://[fe80::1%25lo]/2"]),
        (
            "http://h/[1-2]{a,b}[x-y]",
            [
                "http://h/1ax", "http://h/1ay", "http://h/1bx", "http://h/1by", "http://h/2ax", "http://h/2ay",
                "http://h/2bx", "http://h/2by",
            ]
        ),
        (
            "http://h/{a,b}{c,d}{e,f}",
            [
                "http://h/ace", "http://h/acf", "http://h/ade", "http://h/adf", "http://h/bce", "http://h/bcf",
                "http://h/bde", "http://h/bdf",
            ]
        ),
        ("http://h/[1-2] [3-4]", ["http://h/1 3", "http://h/1 4", "http://h/2 3", "http://h/2 4"]),
        ("http://h/é{ü,ö}", ["http://h/éü", "http://h/éö"]),
        (
            "http://h/x{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}",
            ["http://h/xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
        ),
        (
            "http://h/x{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}",
            ["http://h/xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
        ),
        (
            "http://h/x{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}",
            ["http://h/xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
        ),
        ("http://h/{1,2}xxx[1-2:1]", ["http://h/1xxx1", "http://h/1xxx2", "http://h/2xxx1", "http://h/2xxx2"]),
        ("http://h/[09-11]", ["http://h/09", "http://h/10", "http://h/11"]),
        ("http://h/[9-0011]", ["http://h/9", "http://h/10", "http://h/11"]),
    ]

    @Test(arguments: patterns)
    func texts(_ text: String, _ expected: [String]) throws {
        let glob = try CurlGlob(text)
        #expect(glob.map(\.text) == expected)
        #expect(glob.count == Int64(expected.count))
    }

    static let errors: [(String, String)] = [
        ("http://h/[c-a]", "bad range in URL position 15:\nhttp://h/[c-a]\n              ^"),
        ("http://h/[a-z:26]", "bad range in URL position 18:\nhttp://h/[a-z:26]\n                 ^"),
        ("http://h/[5-5:2]", "bad range in URL position 17:\nhttp://h/[5-5:2]\n                ^"),
        ("http://h/[3-1]", "bad range in URL position 15:\nhttp://h/[3-1]\n              ^"),
        ("http://h/[1-2:0]", "bad range in URL position 17:\nhttp://h/[1-2:0]\n                ^"),
        ("http://h/[1-2:5]", "bad range in URL position 17:\nhttp://h/[1-2:5]\n                ^"),
        ("http://h/[a-a:2]", "bad range in URL position 17:\nhttp://h/[a-a:2]\n                ^"),
        ("http://h/[1-]", "bad range in URL position 13:\nhttp://h/[1-]\n            ^"),
        ("http://h/[-1]", "bad range specification in URL position 11:\nhttp://h/[-1]\n          ^"),
        ("http://h/[1]", "bad range in URL position 12:\nhttp://h/[1]\n           ^"),
        ("http://h/[x]", "bad range in URL position 11:\nhttp://h/[x]\n          ^"),
        ("http://h/[aa-c]", "bad range in URL position 11:\nhttp://h/[aa-c]\n          ^"),
        ("http://h/[a-c:x]", "bad range in URL position 15:\nhttp://h/[a-c:x]\n              ^"),
        ("http://h/[a-Z]", "bad range in URL position 15:\nhttp://h/[a-Z]\n              ^"),
        ("http://h/[A-z]", "bad range in URL position 15:\nhttp://h/[A-z]\n              ^"),
        ("http://h/{}", "empty string within braces in URL position 11:\nhttp://h/{}\n          ^"),
        ("http://h/{a", "unmatched brace in URL position 10:\nhttp://h/{a\n         ^"),
        ("http://h/a}", "unmatched close brace/bracket in URL position 11:\nhttp://h/a}\n          ^"),
        ("http://h/a]", "unmatched close brace/bracket in URL position 11:\nhttp://h/a]\n          ^"),
        ("http://h/[1-3", "bad range in URL position 14:\nhttp://h/[1-3\n             ^"),
        ("http://h/[", "bad range specification in URL position 11:\nhttp://h/[\n          ^"),
        ("http://h/{a{b}}", "nested brace in URL position 12:\nhttp://h/{a{b}}\n           ^"),
        ("http://h/{a[b]}", "nested brace in URL position 12:\nhttp://h/{a[b]}\n           ^"),
        ("http://h/{a]}", "unexpected close bracket in URL position 12:\nhttp://h/{a]}\n           ^"),
        ("http://h/{a\\", "unmatched brace in URL position 10:\nhttp://h/{a\\\n         ^"),
        ("http://h/[1:2]", "bad range in URL position 12:\nhttp://h/[1:2]\n           ^"),
        (
            "http://h/[1-9223372036854775808]",
            "bad range in URL position 13:\nhttp://h/[1-9223372036854775808]\n            ^"
        ),
        (
            "http://h/[1-4294967296][1-4294967296][1-2]",
            "range overflow in URL position 38:\nhttp://h/[1-4294967296][1-4294967296][1-2]\n                                     ^"
        ),
        ("http://h/{é}]", "unmatched close brace/bracket in URL position 13:\nhttp://h/{é}]\n            ^"),
        ("http://h/h]", "unmatched close brace/bracket in URL position 11:\nhttp://h/h]\n          ^"),
        (
            "http://h/[1-4294967296][1-4294967296][1-2]",
            "range overflow in URL position 38:\nhttp://h/[1-4294967296][1-4294967296][1-2]\n                                     ^"
        ),
        (
            "http://h/{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}",
            "too many globs in URL position 208:\nhttp://h/{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}{a}\n                                                                                                                                                                        "
        ),
    ]

    @Test(arguments: errors)
    func refuses(_ text: String, _ message: String) throws {
        let error = try #require(throws: CurlError.self) { _ = try CurlGlob(text) }
        #expect(error.exitCode == 3 && error.message == message)
    }

    @Test(.timeLimit(.minutes(1)))
    func largePatternsAreNotMadeAtOnce() throws {
        let glob = try CurlGlob("[1-99999999999]{a,b}[001-5]")
        #expect(glob.count == 99_999_999_999 * 10)
        #expect(glob.prefix(3).map(\.text) == ["1a001", "1a002", "1a003"])
        let largest = try CurlGlob("[9223372036854775806-9223372036854775807]")
        #expect(largest.map(\.text) == ["9223372036854775806", "9223372036854775807"])
        #expect(throws: CurlError.self) { _ = try CurlGlob("[0-9223372036854775807]") }
    }

    @Test func withoutPatternsATextIsLiteral() throws {
        let glob = CurlGlob(literal: "{a,b}[1-2]")
        #expect(Array(glob) == [CurlGlob.Match(text: "{a,b}[1-2]", pieces: nil)])
        #expect(try glob.first { _ in true }?.name("#1") == "#1")
    }

    @Test(
        "Names of files",
        arguments: [
            ("#1", "a"), ("#2-#1", "01-a"), ("#1#1", "aa"), ("a#0", "a#0"), ("#3", "#3"), ("#9x", "#9x"), ("#", "#"),
            ("##1", "#a"), ("#10", "#10"), ("#01", "a"), ("#x", "#x"), ("#1/#2", "a/01"), ("\\#1", "\\a"),
            ("#2#", "01#"),
            ("#18446744073709551617", "#18446744073709551617"), ("%#1", "%a"), ("é#1ü", "éaü"),
        ])
    func names(_ template: String, _ expected: String) throws {
        let match = try #require(CurlGlob("http://h/{a,b}x[01-02]").first { _ in true })
        #expect(match.pieces == ["a", "01"])
        #expect(try match.name(template) == expected)
    }

    @Test func namesThatCurlRefuses() throws {
        let match = try #require(CurlGlob("{,a}").first { _ in true })
        var error = try #require(throws: CurlError.self) { _ = try match.name("#1") }
        #expect(error.line == "curl: (23) Failed writing received data to disk/application")
        #expect(error.warnings == ["output glob produces empty string"])
        #expect(try match.name(String(repeating: "x", count: 10_239)).count == 10_239)
        error = try #require(throws: CurlError.self) { _ = try match.name(String(repeating: "x", count: 10_240)) }
        #expect(error.line == "curl: (27) Out of memory")
    }
}
