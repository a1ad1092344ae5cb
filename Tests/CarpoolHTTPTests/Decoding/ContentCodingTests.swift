import Testing

@testable import CarpoolHTTP

struct ContentCodingTests {
    private func head(_ values: [[UInt8]]) -> ResponseHead {
        var fields = FieldBlock()
        for value in values {
            let line = Array("Content-Encoding: ".utf8) + value
            _ = line.withUnsafeBytes { fields.append(line: $0) }
        }
        return ResponseHead(status: 200, httpVersion: "http/1.1", fields: fields)
    }

    private func head(_ values: [String]) -> ResponseHead { head(values.map { Array($0.utf8) }) }

    @Test(
        "Codings of all fields in their order, in any case",
        arguments: [
            ([], nil), (["gzip"], [.gzip]), (["X-GZIP"], [.gzip]), (["deflate, gzip"], [.deflate, .gzip]),
            (["deflate", "gzip"], [.deflate, .gzip]), ([" ,\tgzip\t, "], [.gzip]), (["identity"], nil),
            (["Identity, gzip"], [.gzip]), (["gzip, none-such"], nil), (["gzip;q=1"], nil),
            (["gzip, gzip, gzip, gzip"], [.gzip, .gzip, .gzip, .gzip]), (["gzip, gzip, gzip, gzip, gzip"], nil),
        ] as [([String], [ContentCoding]?)])
    func codings(_ values: [String], _ expected: [ContentCoding]?) {
        #expect(ContentCoding.decodable(in: head(values)) == expected)
    }

    @Test("Why a body is not decoded")
    func obstacles() {
        #expect(ContentCoding.obstacle(in: head(["gzip"])) == nil)
        #expect(ContentCoding.obstacle(in: head(["identity, identity"])) == nil)
        #expect(ContentCoding.obstacle(in: head(["GZIP, None-Such"])) == .unknown("gzip, none-such"))
        #expect(ContentCoding.obstacle(in: head([[0xC9]])) == .unknown("é"))
        #expect(ContentCoding.obstacle(in: head(["gzip, gzip, gzip, gzip, gzip"])) == .tooMany)
    }

    @Test(
        "More names than are read are too many, whatever they are",
        arguments: [
            String(repeating: ",", count: 2_000), String(repeating: "identity,", count: 200),
            String(repeating: "a", count: 2_000), "gzip" + String(repeating: " ", count: 2_000) + ",",
        ])
    func tooLong(_ value: String) {
        #expect(ContentCoding.decodable(in: head([value])) == nil)
        #expect(ContentCoding.obstacle(in: head([value])) == .tooMany)
        #expect(ContentCoding.obstacle(in: head([[UInt8](repeating: 0xE9, count: 100_000)])) == .tooMany)
    }
}
