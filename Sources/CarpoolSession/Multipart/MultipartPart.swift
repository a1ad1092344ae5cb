public import CarpoolHTTP
internal import CarpoolSystem

/// One part of a form (RFC 7578, section 4).
public struct MultipartPart {
    /// The content of a part.
    public enum Content {
        /// Bytes in memory.
        case bytes([UInt8])
        /// A file, by its path; without a length, all of it from the offset on.
        case file(path: String, offset: Int64, length: Int64?)
        /// So many bytes of an open file.
        case open(BodyFile, offset: Int64, length: Int64)
        /// So many bytes of a body source.
        case source(any BodySource, length: Int64)
    }

    /// The field's name.
    public let name: String
    /// The content.
    public let content: Content
    /// The file name, if the part is a file. For a path it defaults to the file's own name.
    public let fileName: String?
    /// The `Content-Type` of the part. For a path it defaults to the type of the file's name.
    public let contentType: String?

    /// Makes a part. The type must have no control characters: it is sent as it is.
    public init(name: String, content: Content, fileName: String? = nil, contentType: String? = nil) {
        self.name = name
        self.content = content
        self.fileName = fileName
        self.contentType = contentType
    }

    /// The fields before the bytes (MP-03, MP-04), with the blank line behind them.
    func head(fileName: String?, contentType: String?) -> [UInt8] {
        var head = Array("Content-Disposition: form-data; name=\"\(MultipartPart.escaped(name))\"".utf8)
        // The name of a file need not be UTF-8, and is sent as it is.
        if let fileName {
            head +=
                Array("; filename=\"".utf8) + SystemPath.bytes(of: MultipartPart.escaped(fileName)) + Array("\"".utf8)
        }
        head += Array("\r\n".utf8)
        if let contentType { head += Array("Content-Type: \(contentType)\r\n".utf8) }
        return head + Array("\r\n".utf8)
    }

    /// Escapes what would end a quoted name or its line, as browsers do (HTML, "multipart/form-data encoding
    /// algorithm").
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
