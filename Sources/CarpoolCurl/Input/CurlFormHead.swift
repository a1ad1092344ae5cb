/// The header fields of a part of a form.
struct CurlFormHead {
    /// The type; `nil` for none.
    let type: [UInt8]?
    private let part: CurlFormPart
    private let disposition: String?
    private let escapes: Bool

    /// Decides them. A part of a form has the disposition `form-data`, a part of another group `attachment`.
    init(_ part: CurlFormPart, isForm: Bool, escapes: Bool) {
        self.part = part
        self.escapes = escapes
        type = CurlFormHead.type(of: part)
        let hasName = part.name != nil || part.fileName != nil
        if part.header("Content-Disposition") != nil {
            disposition = nil
        } else if isForm {
            disposition = "form-data"
        } else {
            disposition = hasName ? "attachment" : nil
        }
    }

    private static func type(of part: CurlFormPart) -> [UInt8]? {
        if let type = part.type { return type }
        if let type = part.header("Content-Type") { return Array(type) }
        if case .parts = part.content { return Array("multipart/mixed".utf8) }
        var type = CurlFormPart.type(ofName: part.fileName)
        if case .file(let path, _) = part.content {
            type = type ?? CurlFormPart.type(ofName: Array(path.utf8))
            if part.fileName != nil { type = type ?? "application/octet-stream" }
        }
        if type == "text/plain", part.fileName == nil { return nil }
        return type.map { Array($0.utf8) }
    }

    /// The fields and the empty line.
    func bytes(boundary: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        if let disposition {
            result += Array("Content-Disposition: \(disposition)".utf8)
            if let name = part.name { result += parameter("name", name) }
            if let name = part.fileName { result += parameter("filename", name) }
            result += [13, 10]
        }
        if let type {
            result += Array("Content-Type: ".utf8) + type
            if !boundary.isEmpty { result += Array("; boundary=".utf8) + boundary }
            result += [13, 10]
        }
        if let encoder = part.encoder, part.header("Content-Transfer-Encoding") == nil {
            result += Array("Content-Transfer-Encoding: \(encoder.rawValue)\r\n".utf8)
        }
        for line in part.headers where !CurlFormPart.isField("Content-Type", line) { result += line + [13, 10] }
        return result + [13, 10]
    }

    /// A parameter in quotes: the quote, CR and LF are percent-encoded, or with `--form-escape` the quote and the
    /// backslash get a backslash.
    private func parameter(_ name: String, _ value: [UInt8]) -> [UInt8] {
        var result = Array("; \(name)=\"".utf8)
        for byte in value {
            switch byte {
            case UInt8(ascii: "\""): result += Array((escapes ? "\\\"" : "%22").utf8)
            case UInt8(ascii: "\\") where escapes: result += [byte, byte]
            case 10 where !escapes: result += Array("%0A".utf8)
            case 13 where !escapes: result += Array("%0D".utf8)
            default: result.append(byte)
            }
        }
        return result + [UInt8(ascii: "\"")]
    }
}
