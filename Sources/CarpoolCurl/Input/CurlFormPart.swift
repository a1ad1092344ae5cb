/// A part of a form, before it is written.
struct CurlFormPart: Equatable {
    enum Content: Equatable {
        case bytes([UInt8])
        /// A file; the length if it is a regular one.
        case file(String, length: Int64?)
        /// Standard input, which is a regular file: the length.
        case standardInput(Int64)
        case parts([CurlFormPart])
    }

    enum Encoder: String, Equatable {
        case binary
        case eightBit = "8bit"
        case sevenBit = "7bit"
        case base64
        case quotedPrintable = "quoted-printable"
    }

    var name: [UInt8]?
    var fileName: [UInt8]?
    /// The value of `;type=`.
    var type: [UInt8]?
    var encoder: Encoder?
    /// The lines of `;headers=`.
    var headers: [[UInt8]] = []
    var content: Content

    /// The value of the first line of a field.
    func header(_ name: String) -> ArraySlice<UInt8>? {
        for line in headers where CurlFormPart.isField(name, line) {
            return line[(name.utf8.count + 1)...].drop { $0 == UInt8(ascii: " ") }
        }
        return nil
    }

    /// Whether a line is one of a field.
    static func isField(_ name: String, _ line: [UInt8]) -> Bool {
        line.hasPrefixIgnoringCase(name) && line.dropFirst(name.utf8.count).first == UInt8(ascii: ":")
    }

    /// The type by the extension of a name, for the few extensions that curl knows.
    static func type(ofName name: [UInt8]?) -> String? {
        guard let name else { return nil }
        return types.first { name.suffix($0.0.utf8.count).equalsIgnoringCase($0.0.utf8) }?.1
    }

    private static let types = [
        (".gif", "image/gif"), (".jpg", "image/jpeg"), (".jpeg", "image/jpeg"), (".png", "image/png"),
        (".svg", "image/svg+xml"), (".txt", "text/plain"), (".htm", "text/html"), (".html", "text/html"),
        (".pdf", "application/pdf"), (".xml", "application/xml"),
    ]
}
