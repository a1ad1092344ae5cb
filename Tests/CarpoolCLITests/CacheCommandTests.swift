import CarpoolCaller
import CarpoolJSON
import Testing

@testable import CarpoolCLI

/// `carpool cache`, and the options of the cache.
struct CacheCommandTests {
    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    private func cache(_ line: String) throws -> CacheArguments {
        try #require(try Invocation.parse(words("cache \(line)")).arguments as? CacheArguments)
    }

    private func request(_ line: String) throws -> RequestArguments {
        try #require(try Invocation.parse(words(line)).arguments as? RequestArguments)
    }

    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func parameters(_ line: String) throws -> String {
        let request = try request(line)
        return written { RequestWriter(request, [], nil).write(to: &$0) }
    }

    private func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

    // MARK: carpool cache

    @Test(arguments: [
        ("ls", "{}"), ("ls http://a/ --session s", #"{"url":"http://a/","session":"s"}"#),
        ("ls --store ours --origin http://a", #"{"store":"ours","origin":"http://a"}"#),
        ("purge http://a/", #"{"url":"http://a/"}"#), ("purge --all --soft", #"{"all":true,"soft":true}"#),
        ("purge --prefix http://a/b", #"{"prefix":"http://a/b"}"#),
        ("purge --older-than 7d --session s", #"{"session":"s","older_than_ms":604800000}"#), ("stats", "{}"),
    ])
    func theActionsHaveTheirParameters(_ line: String, _ expected: String) throws {
        let arguments = try cache(line)
        #expect(written { arguments.write(to: &$0) } == expected)
    }

    @Test func aQuestionHasTheFieldsOfTheRequest() throws {
        let line = ["cache", "why", "http://a/", "-H", "Accept: text/plain", "-H", "Accept:b", "--session", "s"]
        let arguments = try #require(try Invocation.parse(line).arguments as? CacheArguments)
        #expect(
            written { arguments.writeRequest(of: "http://b/", to: &$0) }
                == #"{"url":"http://b/","session":"s","headers":[["Accept","text/plain"],["Accept","b"]]}"#)
    }

    @Test(arguments: [
        ("", "cache needs ls, get, why, purge or stats"),
        ("list", "cache takes one of ls, get, why, purge, stats, not 'list'; did you mean ls?"),
        ("stat", "cache takes one of ls, get, why, purge, stats, not 'stat'; did you mean stats?"),
        ("why", "cache why needs a URL"), ("get a b", "cache get takes one URL, not also 'b'"),
        ("stats a", "cache stats takes no 'a'"),
        ("purge", "cache purge takes one of URL, --prefix, --origin, --older-than and --all"),
        ("purge a --all", "cache purge takes one of URL, --prefix, --origin, --older-than and --all"),
        ("purge a", "cache purge takes a URL, with http:// or https://, not 'a'"),
        ("ls *.js", "cache ls takes how URLs begin, with http:// or https://, not '*.js'"),
        ("purge --prefix a", "--prefix takes how URLs begin, with http:// or https://, not 'a'"),
        (
            "purge --origin http://a/b",
            "--origin takes http://HOST[:PORT] or https://HOST[:PORT], not 'http://a/b'; for a path use --prefix"
        ),
        ("ls --soft", "--soft has no effect with cache ls"), ("why a --json", "--json has no effect with cache why"),
        ("stats --session s", "--session has no effect with cache stats"),
        ("ls --session s --store t", "--session and --store exclude each other"),
        ("purge --older-than 7w", "--older-than takes a span of up to a year such as 90s, 10m, 2h or 7d, not '7w'"),
    ])
    func aWrongLineIsRefusedInItsOwnWords(_ line: String, _ message: String) throws {
        #expect(throws: UsageError(message, in: "cache")) { try Invocation.parse(words("cache \(line)")) }
    }

    @Test func emptyNamesAreRefused() {
        for option in ["--session", "--store", "--origin", "--prefix"] {
            #expect(throws: UsageError.self) { try Invocation.parse(["cache", "ls", option, ""]) }
        }
    }

    // MARK: What is printed

    private static let entry = #"""
        {"url":"http://a/\u0007","status":200,"size_bytes":2048,"stored_at":"2026-09-30T10:00:00.000000Z","age_ms":2500,\#
        "fresh_for_ms":57500,"validators":{"etag":"\"7\""},"vary":["accept","cookie"],"where":"disk","hits":3}
        """#

    @Test func aListHasColumns() throws {
        #expect(CacheReport.heading == "STATUS SIZE      AGE     FRESH FOR   HITS  WHERE   URL")
        #expect(
            CacheReport.line(of: try json(Self.entry))
                == #"200    2.00 KiB  2 s     57 s        3     disk    http://a/\u{7}"#)
        let stale = #"{"url":"u","status":301,"size_bytes":0,"age_ms":0,"fresh_for_ms":-1,"where":"memory","hits":0}"#
        #expect(
            CacheReport.line(of: try json(stale)) == "301    0 B       0 ms    stale       0     memory  u")
    }

    @Test func anExplanationNamesTheResponse() throws {
        let answer = """
            {"would":"serve","reason":"fresh","explanation":"The stored response is fresh.","entry":\(Self.entry)}
            """
        #expect(
            CacheReport.explanation(of: try json(answer), for: "http://a/") == [
                "http://a/", "  would be served from the cache (fresh): The stored response is fresh.",
                #"  stored: status 200, 2.00 KiB, 2 s old, fresh for 57 s, ETag "7", "#
                    + "depends on accept, cookie, used 3 times, on disk",
            ])
        let none = #"{"would":"forward","reason":"not_stored","explanation":"No response is stored for this URL."}"#
        #expect(
            CacheReport.explanation(of: try json(none), for: "u") == [
                "u", "  the server would be asked (not_stored): No response is stored for this URL.",
            ])
    }

    @Test(arguments: [
        (0, false, "removed no stored responses"), (1, false, "removed 1 stored response"),
        (7, true, "marked 7 stored responses as stale"),
    ])
    func aPurgeSaysWhatItDid(_ count: Int, _ isSoft: Bool, _ expected: String) throws {
        #expect(CacheReport.purge(try json(#"{"purged":\#(count)}"#), isSoft: isSoft) == expected)
    }

    @Test func statisticsNameTheReasons() throws {
        let store = """
            {"store":"api","shared":true,"entries":2,"memory_bytes":3172,"disk_bytes":0,"disk_fault":"full","counters":{"hits":40,"stale":0,\
            "revalidated":3,"collapsed":1,"misses":5,"bypassed":12,"waits":1,"stored":5,"invalidated":0,"evicted":0,"corrupt":0,\
            "write_failures":0,"saved_bytes":81920,"reasons":{"vary":2,"method":12,"not_stored":2}}}
            """
        let lines = CacheReport.lines(of: try json(store))
        #expect(lines.first == "api (shared)")
        #expect(lines[6] == "  disk      off: full")
        #expect(lines.last == "  reasons   method 12, not_stored 2, vary 2")
        #expect(lines[2] == "  served    40 fresh, 0 stale, 3 found valid, 1 by an identical request")
    }

    // MARK: The options of requests

    @Test(arguments: [
        ("get u", nil), ("get --cache no_store u", #""cache":"no_store""#),
        ("head --offline u", #""cache":"return_cache_dont_load""#),
        ("get --offline --cache return_cache_dont_load u", #""cache":"return_cache_dont_load""#),
        ("get --cache no_store --cache use_protocol u", #""cache":"use_protocol""#),
        ("get --ttl 10m u", #""cache":{"ttl_ms":600000}"#),
        ("get --ttl 0 --cache reload_revalidating u", #""cache":{"policy":"reload_revalidating","ttl_ms":0}"#),
        ("get --ttl 2h -o f u", #""cache":{"ttl_ms":7200000,"store_downloads":true}"#),
    ])
    func aRequestHasItsPolicy(_ line: String, _ expected: String?) throws {
        let parameters = try parameters(line)
        #expect(expected.map(parameters.contains) ?? !parameters.contains("cache"))
    }

    @Test(arguments: [
        "get --cache no-store u", "get --cache= u", "get --offline --cache no_store u",
        "get --cache no_store --offline u", "get --ttl -1 u", "get --ttl 10x u", "get --ttl m u", "get --ttl 400d u",
    ])
    func aWrongPolicyOrSpanIsRefused(_ line: String) {
        #expect(throws: UsageError.self) { try Invocation.parse(words(line)) }
    }

    @Test func aMisspelledPolicyIsNamed() {
        let error = #expect(throws: UsageError.self) { try Invocation.parse(words("get --cache no-store u")) }
        #expect(error?.message.hasPrefix("--cache takes one of use_protocol, ") == true)
        #expect(error?.message.hasSuffix(", not 'no-store'; did you mean no_store?") == true)
    }

    @Test func theDaemonsRefusalNamesTheOption() {
        let failure = Failure(.refused, "Invalid params: params.cache.ttl_ms: too long").namingOption
        #expect(failure.message == "--ttl: too long")
    }

    @Test func aVerboseRequestSaysWhatTheCacheDid() throws {
        let hit = #"{"status":"hit","reason":"fresh","age_ms":12000,"ttl_ms":48000,"stored":false}"#
        #expect(Report.line(ofCache: try json(hit)) == "* cache hit (fresh), 12 s old, fresh for 48 s")
        let miss = #"{"status":"miss","fwd":"uri-miss","reason":"not_stored","ttl_ms":-7200000,"stored":true}"#
        #expect(Report.line(ofCache: try json(miss)) == "* cache miss (not_stored), stale for 2 h, stored")
    }

    // MARK: Spans

    @Test(arguments: [("90", 90_000), ("1.5s", 1_500), ("10m", 600_000), ("2h", 7_200_000), ("365d", 31_536_000_000)])
    func aSpanHasAUnit(_ text: String, _ milliseconds: Int) throws {
        #expect(try TimeSpan.span(text, of: "--ttl") == milliseconds)
    }

    @Test(
        arguments: [
            (0, "0 ms"), (1_999, "1999 ms"), (2_000, "2 s"), (119_999, "119 s"), (-7_200_000, "2 h"),
            (.min, "106751991167 d"),
        ] as [(Int64, String)])
    func aSpanIsPrintedInItsLongestUnit(_ milliseconds: Int64, _ text: String) {
        #expect(TimeSpan.text(milliseconds: milliseconds) == text)
    }
}
