import CarpoolHTTP
import Testing

@testable import CarpoolCache

struct HeaderTests {
    @Test(
        "HF-03: Age is the first member of the first line, digits only",
        arguments: [
            (["0"], 0), (["7200"], 7_200), (["2147483647"], 2_147_483_647), (["99999999999"], 2_147_483_648),
            (["7200, 0"], 7_200), (["0, 7200"], 0), (["7200", "0"], 7_200), (["0", "7200"], 0), (["-7200"], 0),
            (["7200.0"], 0), (["abc"], 0), (["7200;foo=bar"], 0), ([""], 0), ([",5"], 0), (["5,"], 5),
        ] as [([String], Int64)])
    func age(lines: [String], expected: Int64) {
        #expect(ResponseFields(CacheScene.block(lines.map { "Age: \($0)" }), near: 0).age == expected)
    }

    @Test("HF-04: several lines of Expires or Date are none that is valid")
    func repeatedDates() {
        let fields = ResponseFields(
            CacheScene.block([
                "Expires: \(CacheScene.date)", "Expires: \(CacheScene.date)", "Date: \(CacheScene.date)",
                "Date: \(CacheScene.date)",
            ]), near: 0)
        #expect(fields.hasExpires)
        #expect(fields.expires == nil)
        #expect(fields.date == nil)
    }

    @Test(
        "HK-05: values are compared without white space around commas",
        arguments: [
            (["1, 2"], "1,2"), (["1", "2"], "1,2"), ([" 1 ,2\t"], "1,2"), (["a b , c"], "a b,c"), (["A"], "A"),
            (["x=\"a , b\", y"], "x=\"a , b\",y"), (["x=\"a , b"], "x=\"a,b"), ([""], ""), ([" "], ""),
            (["a", ""], "a,"),
        ] as [([String], String)])
    func normalized(lines: [String], expected: String) {
        #expect(VaryValue.normalized(lines.map { Array($0.utf8) }) == Array(expected.utf8))
    }

    @Test("HK-05: the case of languages does not matter, that of others does; what may be a secret is hashed")
    func languages() throws {
        let request = try CacheScene().request(["Accept-Language: eN, De", "Accept: Bar", "X-Api-Key: Bar"])
        #expect(request.selectingValue(of: "accept-language") == Array("en,de".utf8))
        #expect(request.selectingValue(of: "accept") == Array("Bar".utf8))
        #expect(request.selectingValue(of: "x-api-key")?.count == 32)
        #expect(request.selectingValue(of: "other") == nil)
    }

    @Test(
        "HK-05: names of Vary",
        arguments: [
            (["Foo, bar", "FOO"], ["foo", "bar"]), (["*"], nil), (["*, *"], nil), ([", *"], nil), (["", "*"], nil),
            (["*, Foo"], nil), (["Foo, *"], nil), ([""], []), ([], []),
        ] as [([String], [String]?)])
    func varyNames(lines: [String], expected: [String]?) {
        #expect(VaryValue.names(in: lines.map { Array($0.utf8) }) == expected)
    }

    @Test("a Vary with more names than any request has fits none")
    func manyNames() {
        let names = { (count: Int) in (0..<count).map { "n\($0)" }.joined(separator: ",") }
        #expect(VaryValue.names(in: [Array(names(64).utf8)])?.count == 64)
        #expect(VaryValue.names(in: [Array(names(20_000).utf8)]) == nil)
    }

    @Test(
        "entity tags in If-None-Match, compared weakly",
        arguments: [
            ("\"a\"", "\"a\"", true), ("\"a\"", "W/\"a\"", true), ("W/\"a\"", "\"a\"", true), ("\"a\"", "\"b\"", false),
            ("\"a\"", "\"x\", \"a\" , \"y\"", true), ("\"a,b\"", "\"a,b\"", true), ("\"a\"", "\"a,\"", false),
            ("\"a\"", "*", true), ("a", "a", true), ("a", "\"a\"", false), ("\"a\"", "", false),
        ] as [(String, String, Bool)])
    func tags(tag: String, list: String, expected: Bool) {
        let found = Array(list.utf8).withUnsafeBytes { EntityTag(Array(tag.utf8))?.isWeaklyIn($0) }
        #expect(found == expected)
    }

    @Test("strong comparison of entity tags")
    func strongTags() throws {
        let strong = try #require(EntityTag(Array("\"a\"".utf8)))
        let weak = try #require(EntityTag(Array("W/\"a\"".utf8)))
        #expect(strong.isStronglyEqual(to: strong))
        #expect(!weak.isStronglyEqual(to: weak))
        #expect(!strong.isStronglyEqual(to: weak))
        #expect(strong.weakened == weak.bytes)
        #expect(EntityTag([]) == nil)
    }

    @Test(
        "HR-01: ranges of a body of 10 bytes",
        arguments: [
            ("bytes=0-1", 0..<2), ("bytes=1-", 1..<10), ("bytes=-1", 9..<10), ("Bytes=0-99", 0..<10),
            ("bytes=-99", 0..<10), ("bytes= 2-3 ", 2..<4), ("bytes=10-", nil), ("bytes=-0", nil),
            ("bytes=99999999999999999999-", nil), ("bytes=0-99999999999999999999", 0..<10),
        ] as [(String, Range<Int>?)])
    func ranges(text: String, expected: Range<Int>?) throws {
        let range = try #require(Array(text.utf8).withUnsafeBytes { ByteRange($0) })
        #expect(range.bytes(of: 10) == expected)
        #expect(range.bytes(of: 0) == nil)
    }

    @Test(
        "HR-01: what is not one range of bytes",
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=0-1,3-4", "items=0-1", "bytes=a-b", "bytes=--1",
        ])
    func noRanges(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes { ByteRange($0) } == nil)
    }

    @Test("only the beginning of long lists is read")
    func longLists() {
        let long = (0..<20_000).map { "x-\($0)" }.joined(separator: ", ")
        let names = FieldBytes.names(in: [Array("a, b".utf8), Array(long.utf8), Array("c".utf8)])
        #expect(names.count < 2_000 && names.contains(Array("b".utf8)) && !names.contains(Array("c".utf8)))
        let same = Array(repeating: Array("a, ".utf8), count: 20_000)
        #expect(VaryValue.names(in: same) == nil)
    }
}
