internal import CarpoolJSON
internal import CarpoolSystem

/// The head of a response, with the bytes of every head of its exchange.
struct CurlResponseHead {
    let status: Int
    /// `1.0`, `1.1` or `2`.
    let version: String
    /// The heads as they were received: those of interim responses and challenges before the last one.
    let raw: [UInt8]
    /// The fields of the last head. Bytes of a value that are not UTF-8 are kept as in paths (``SystemPath``).
    let fields: [(name: String, value: String)]
    /// The last Content-Type of all heads that is not empty.
    let contentType: String?
    /// The number of fields of the last head that has any.
    let lastFieldCount: Int

    /// Reads the heads of an exchange.
    init(_ raw: [UInt8]) {
        self.raw = raw
        var status = 0
        var version = "1.1"
        var fields: [(name: String, value: String)] = []
        var type: String?
        var lastCount = 0
        for line in raw.split(separator: 10) {
            let text = line.last == 13 ? line.dropLast() : line
            if text.hasPrefixIgnoringCase("HTTP/") {
                (version, status) = CurlResponseHead.statusLine(text)
                if !fields.isEmpty { lastCount = fields.count }
                type = CurlResponseHead.type(in: fields) ?? type
                fields = []
            } else if let first = text.first, first.isBlank, !fields.isEmpty {
                fields[fields.count - 1].value += " " + CurlResponseHead.text(of: text.trimmingBlanks)
            } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                fields.append((text[..<colon].text, CurlResponseHead.text(of: text[(colon + 1)...].trimmingBlanks)))
            }
        }
        if !fields.isEmpty { lastCount = fields.count }
        contentType = CurlResponseHead.type(in: fields) ?? type
        (self.status, self.version, self.fields, lastFieldCount) = (status, version, fields, lastCount)
    }

    private static func type(in fields: [(name: String, value: String)]) -> String? {
        fields.last { $0.name.utf8.equalsIgnoringCase("Content-Type".utf8) && !$0.value.isEmpty }?.value
    }

    /// The version and the status of a status line. As in libcurl the status is the three digits behind one blank,
    /// whatever follows them.
    private static func statusLine(_ line: ArraySlice<UInt8>) -> (version: String, status: Int) {
        let version = line.dropFirst(5).prefix { !$0.isBlank }
        return (version.text, Int(line.dropFirst(5 + version.count + 1).prefix(3).text) ?? 0)
    }

    /// The text of a value. Nearly all are ASCII, which the function for paths would read through its generic type.
    private static func text(of value: ArraySlice<UInt8>) -> String {
        value.allSatisfy { $0 < 0x80 } ? value.text : SystemPath.text(value)
    }

    /// The bytes of a text of the wire: a string, or an object with the member `base64`.
    static func bytes(_ text: JSON) -> [UInt8] {
        if let encoded = text["base64"] {
            return encoded.withUTF8 { text in (try? Base64.decode(text)) ?? [] } ?? []
        }
        return text.withUTF8 { Array($0) } ?? []
    }

    /// The value of the first field of a name.
    func value(_ name: String) -> String? {
        fields.first { $0.name.utf8.equalsIgnoringCase(name.utf8) }?.value
    }

    /// The values of all fields of a name.
    func values(_ name: String) -> [String] {
        fields.filter { $0.name.utf8.equalsIgnoringCase(name.utf8) }.map(\.value)
    }

    /// The length of the body that the origin announced.
    var contentLength: Int64? { value("Content-Length").flatMap { Int64($0) } }
}
