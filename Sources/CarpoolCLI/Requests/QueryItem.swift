internal import CarpoolCaller

/// What `--query` adds to the URL.
struct QueryItem: Equatable {
    let name: String
    let value: String

    /// Reads `NAME=VALUE`.
    init(_ text: String) throws(UsageError) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw UsageError("--query takes NAME=VALUE, not '\(text)'")
        }
        name = String(text[..<equals])
        value = String(text[text.index(after: equals)...])
    }

    /// Both parts with all bytes but the unreserved ones percent-encoded (RFC 3986, section 2.3).
    var encoded: String { "\(QueryItem.encode(name))=\(QueryItem.encode(value))" }

    private static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
