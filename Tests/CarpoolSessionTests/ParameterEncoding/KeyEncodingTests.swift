import CarpoolJSON
@testable import CarpoolSession
import Testing

struct KeyEncodingTests {
    @Test("FE-11, Appendix B: every conversion of names")
    func vectors() throws {
        let rows = try Vectors.rows("keys")
        #expect(rows.count > 30)
        let conversions: [(StaticString, URLEncodedFormEncoder.KeyEncoding)] = [
            ("snake_case", .snakeCase), ("kebab_case", .kebabCase), ("capitalized", .capitalized),
            ("uppercased", .uppercased), ("lowercased", .lowercased),
        ]
        for row in rows {
            let key = try #require(row["key"]?.string)
            for (name, conversion) in conversions {
                #expect(conversion.encode(key) == row[name]?.string, "\(key) \(name)")
            }
            #expect(URLEncodedFormEncoder.KeyEncoding.useDefaultKeys.encode(key) == key)
        }
    }

    @Test("A name of a million letters is converted in one pass")
    func longNames() {
        let key = String(repeating: "aB", count: 500_000)
        #expect(URLEncodedFormEncoder.KeyEncoding.snakeCase.encode(key).utf8.count == 1_500_000)
    }
}
