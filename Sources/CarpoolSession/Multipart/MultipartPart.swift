public import CarpoolHTTP

/// One part of a form (RFC 7578, section 4).
public struct MultipartPart {
    /// What it holds.
    public enum Content {
        /// Bytes in memory.
        case bytes([UInt8])
        /// A file, by its path; all of it from the offset on, if there is no length.
        case file(path: String, offset: Int64, length: Int64?)
        /// So many bytes of an open file.
        case open(BodyFile, offset: Int64, length: Int64)
        /// So many bytes of what somebody gives.
        case source(any BodySource, length: Int64)
    }

    /// The field's name.
    public let name: String
    /// What it holds.
    public let content: Content
    /// What the file is called, if it is one. For a path it follows from that.
    public let fileName: String?
    /// What `Content-Type` says of it. For a path it follows from the file's name.
    public let contentType: String?

    /// Makes a part. The type must have no control characters: it is sent as it is.
    public init(name: String, content: Content, fileName: String? = nil, contentType: String? = nil) {
        self.name = name
        self.content = content
        self.fileName = fileName
        self.contentType = contentType
    }

    /// The fields before the bytes (MP-03, MP-04), with the blank line behind them.
    func head(fileName: String?, contentType: String?) -> String {
        var head = "Content-Disposition: form-data; name=\"\(MultipartPart.escaped(name))\""
        if let fileName { head += "; filename=\"\(MultipartPart.escaped(fileName))\"" }
        head += "\r\n"
        if let contentType { head += "Content-Type: \(contentType)\r\n" }
        return head + "\r\n"
    }

    /// Escapes what would end a quoted name or its line, as browsers do (HTML, "multipart/form-data encoding algorithm").
    static func escaped(_ name: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": escaped.append(contentsOf: "%22".unicodeScalars)
            case "\r": escaped.append(contentsOf: "%0D".unicodeScalars)
            case "\n": escaped.append(contentsOf: "%0A".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
