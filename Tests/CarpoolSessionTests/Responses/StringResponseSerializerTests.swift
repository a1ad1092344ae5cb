@testable import CarpoolSession
import Testing

struct StringResponseSerializerTests {
    private static let accented = Array("hé".utf8)

    private static func text(
        _ body: [UInt8], _ type: String?, _ encoding: StringResponseSerializer.Encoding = .charset
    ) throws -> String? {
        let fields = type.map { [("Content-Type", $0)] } ?? []
        return try Answered(200, fields, body: body).value(StringResponseSerializer(encoding: encoding)).text
    }

    @Test(
        "RS-04: without a charset, or with one that the model does not know, bytes are ISO-8859-1",
        arguments: [nil, "text/plain", "text/plain; charset=koi8-r", "text/plain; charset=windows-1252"])
    func modelDefault(_ type: String?) throws {
        #expect(try Self.text(Self.accented, type) == "hÃ©")
        #expect(try Self.text([0x80, 0xFF], type) == "\u{80}ÿ")
    }

    @Test("RS-04: the response's charset decides", arguments: ["utf-8", "UTF-8", "\"utf-8\""])
    func charset(_ name: String) throws {
        #expect(try Self.text(Self.accented, "text/plain; charset=\(name)") == "hé")
        #expect(try Self.text([0, 0x68, 0, 0xE9], "text/plain; charset=utf-16be") == "hé")
        #expect(try Self.text([0xE9], "text/plain; charset=iso-8859-1") == "é")
    }

    @Test("RS-04: an explicit encoding wins over the charset")
    func explicit() throws {
        #expect(try Self.text(Self.accented, "text/plain; charset=iso-8859-1", .explicit(.utf8)) == "hé")
        #expect(try Self.text([0x80], nil, .explicit(.windows1252)) == "€")
        #expect(try Self.text([0x80], nil, .explicit(.latin1)) == "\u{80}")
    }

    @Test("RS-04: invalid bytes fail, and the error names the encoding")
    func failures() throws {
        let answered = try Answered(200, [("Content-Type", "text/plain; charset=UTF-8")], body: [0x68, 0xE9])
        let error = try answered.failure(StringResponseSerializer())
        #expect(error.name == "response_serialization_failed.string_serialization_failed")
        #expect(error.text("encoding") == "utf-8")
        let ascii = try answered.failure(StringResponseSerializer(encoding: .explicit(.ascii)))
        #expect(ascii.text("encoding") == "us-ascii")
    }

    @Test("auto: a byte order mark, then the charset, then UTF-8 if it is valid, else ISO-8859-1")
    func automatic() throws {
        #expect(try Self.text(Self.accented, nil, .automatic) == "hé")
        #expect(try Self.text([0x68, 0xE9], nil, .automatic) == "hé")
        #expect(try Self.text([0x80], "text/plain; charset=cp1252", .automatic) == "€")
        #expect(try Self.text([0x80], "text/plain; charset=koi8-r", .automatic) == "\u{80}")
        #expect(try Self.text(Self.accented, "text/plain; charset=latin1", .automatic) == "hÃ©")
        let marked: [[UInt8]] = [
            [0xEF, 0xBB, 0xBF, 0x68, 0xC3, 0xA9], [0xFE, 0xFF, 0, 0x68, 0, 0xE9], [0xFF, 0xFE, 0x68, 0, 0xE9, 0],
            [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x68, 0, 0, 0, 0xE9], [0xFF, 0xFE, 0, 0, 0x68, 0, 0, 0, 0xE9, 0, 0, 0],
        ]
        for body in marked {
            #expect(try Self.text(body, "text/plain; charset=iso-8859-1", .automatic) == "hé", "\(body)")
        }
    }
}
