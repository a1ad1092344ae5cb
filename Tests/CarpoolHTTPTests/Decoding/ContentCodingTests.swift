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

    @Test(
        "Which bodies are files that are labelled with their own format",
        arguments: [
            ("/a.gz", "Content-Encoding: gzip", true), ("/A.TGZ?x=a.html", "Content-Encoding: x-gzip", true),
            ("/a.html?x=a.gz", "Content-Encoding: gzip", false), ("/gz", "Content-Encoding: gzip", false),
            ("/a.gz", "Content-Encoding: br", false), ("/a.gz", "Content-Encoding: gzip, gzip", false),
            ("/a.gz", "Content-Encoding: identity", false), ("/a.gz", "Content-Length: 5", false),
            ("/", "Content-Encoding: gzip\nContent-Type: Application/GZip ;q=1", true),
            ("/", "Content-Encoding: gzip\nContent-Type: application/gzip2", false),
            (
                "/", "Content-Encoding: zstd\nContent-Disposition: attachment; filename=a; FileName = \"a.tar.zst\" ",
                true
            ),
            ("/", "Content-Encoding: gzip\nContent-Disposition: filename=a.gz; filename*=UTF-8''a.html", false),
            ("/", "Content-Encoding: gzip\nContent-Disposition: ;;", false),
            ("/", "Content-Encoding: gzip\nContent-Disposition: filename", false),
            ("/", "Content-Encoding: gzip\nContent-Disposition: x=a.gz", false),
        ])
    func files(_ path: String, _ lines: String, _ isFile: Bool) throws {
        #expect(ContentCoding.isOfFile(fields(lines), try HTTPURL("http://a.test\(path)")) == isFile)
    }

    @Test("No more of a Content-Disposition is read than a name needs")
    func longNames() throws {
        let url = try HTTPURL("http://a.test/")
        for (length, isFile) in [(4_000, true), (5_000, false), (290_000, false)] {
            let name = String(repeating: "\u{301}", count: length / 2)
            let lines = "Content-Encoding: gzip\nContent-Disposition: filename=\(name).gz"
            #expect(ContentCoding.isOfFile(fields(lines), url) == isFile)
        }
    }

    private func fields(_ lines: String) -> FieldBlock {
        var fields = FieldBlock()
        for line in lines.utf8.split(separator: UInt8(ascii: "\n")) {
            _ = Array(line).withUnsafeBytes { fields.append(line: $0) }
        }
        return fields
    }
}
