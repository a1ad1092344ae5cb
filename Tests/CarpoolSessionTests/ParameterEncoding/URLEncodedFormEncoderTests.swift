@testable import CarpoolSession
import Testing

// The vectors are read in CarpoolServerTests, where the options have their wire names; here are those that only Swift
// has.
struct URLEncodedFormEncoderTests {
    private static let nested = StructuredValue.object([
        .init("k", .array([.string("a"), .object([.init("b", .null)]), .data([1, 2]), .date(0)]))
    ])

    @Test("FE-07 to FE-13: closures for arrays, bytes, dates, names, paths and nothing")
    func closures() throws {
        var encoder = URLEncodedFormEncoder()
        encoder.sort = .given
        encoder.array = .custom { key, index in "\(key)<\(index)>" }
        encoder.data = .custom { "\($0.count) bytes" }
        encoder.date = .custom { "at \($0)" }
        encoder.keyPath = .custom { "-\($0)" }
        encoder.key = .custom { "(\($0))" }
        encoder.null = .custom { "nil" }
        encoder.allowedCharacters = AllowedCharacters(besidesAlphanumerics: "<>()-.")
        #expect(try encoder.encode(Self.nested) == "(k<0>)=a&(k<1>-b)=nil&(k<2>)=2%20bytes&(k<3>)=at%200.0")
        encoder.null = .custom { nil }
        #expect(try encoder.encode(Self.nested) == "(k<0>)=a&(k<1>)=2%20bytes&(k<2>)=at%200.0")
    }

    @Test("FE-17: numbers beyond a double, decimals in their shortest form")
    func numbers() throws {
        let cases: [(StructuredValue, String)] = [
            (.decimal("1.10"), "1.1"), (.decimal("1.0"), "1"), (.decimal("-0.00"), "-0"),
            (.decimal("0.001200"), "0.0012"),
            (.decimal("12e3"), "12000"), (.decimal("1.5e-3"), "0.0015"), (.decimal("1e-200"), "1e-200"),
            (.decimal("-12.30e400"), "-1.23e%2B401"), (.unsigned(.max), "18446744073709551615"),
            (.integer(.min), "-9223372036854775808"), (.real(.nan), "nan"), (.real(-.infinity), "-inf"),
        ]
        for (value, text) in cases {
            #expect(try URLEncodedFormEncoder().encode(.object([.init("a", value)])) == "a=\(text)")
        }
        for text in ["", "-", "1.", ".5", "01", "1e", "1e+", "0x1", "1e9999999999", "1 ", "nan"] {
            let error = #expect(throws: SessionError.self) {
                try URLEncodedFormEncoder().encode(.object([.init("a", .decimal(text))]))
            }
            #expect(error?.cause("underlying")?.name == "invalid_number", "\(text)")
        }
    }

    @Test("The name of an array is repeated with each element, and the total size is bounded")
    func bounds() throws {
        let name = String(repeating: "n", count: 1 << 20)
        for element in [StructuredValue.integer(1), .array([])] {
            let value = StructuredValue.object([.init(name, .array(Array(repeating: element, count: 100_000)))])
            let error = #expect(throws: SessionError.self) { try URLEncodedFormEncoder().encode(value) }
            #expect(error?.cause("underlying")?.name == "too_large")
        }
    }

    @Test("FE-10: points in time are exact to the microsecond")
    func dates() throws {
        func text(_ seconds: Double, _ encoding: URLEncodedFormEncoder.DateEncoding) throws -> String {
            var encoder = URLEncodedFormEncoder()
            encoder.date = encoding
            encoder.allowedCharacters = AllowedCharacters(besidesAlphanumerics: "-.:")
            return try encoder.encode(.object([.init("d", .date(seconds))]))
        }
        let all = try #require(DateFormat("%Y-%m-%d %j %T.%L.%f %s"))
        #expect(try text(-0.000001, .formatted(all)) == "d=1969-12-31%20365%2023:59:59.999.999999%20-1")
        #expect(try text(0.9999999, .formatted(all)) == "d=1970-01-01%20001%2000:00:01.000.000000%201")
        #expect(try text(1_709_210_096.5, .formatted(all)) == "d=2024-02-29%20060%2012:34:56.500.500000%201709210096")
        #expect(try text(1_709_251_200, .formatted(all)) == "d=2024-03-01%20061%2000:00:00.000.000000%201709251200")
        #expect(try text(-62_167_219_200, .iso8601) == "d=0000-01-01T00:00:00Z")
        #expect(try text(253_402_300_799, .iso8601) == "d=9999-12-31T23:59:59Z")
        #expect(try text(1e300, .deferredToDate) == "d=1e%2B300")
        for seconds in [1e300, -1e300, Double.nan, .infinity, 253_402_300_799.9999999, -62_167_219_200.1] {
            let error = #expect(throws: SessionError.self) { try text(seconds, .iso8601) }
            #expect(error?.cause("underlying")?.name == "invalid_date")
        }
    }

    @Test("FE-15: what can be left unescaped")
    func allowedCharacters() {
        #expect(AllowedCharacters.query.percentEncode("aZ09-._~?/ !\"#é") == "aZ09-._~?/%20%21%22%23%C3%A9")
        let exact = AllowedCharacters("a# \n\u{7F}é%")
        #expect(exact.percentEncode("ab# \n%") == "a%62%23%20%0A%")
        #expect(exact == AllowedCharacters("%a"))
    }
}
