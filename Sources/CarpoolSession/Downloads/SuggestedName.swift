internal import CarpoolHTTP

/// The suggested file name of a response (DL-03): from `Content-Disposition` (RFC 6266, section 4.3), else the last
/// part of its URL. It is always a safe name of one visible file, without directories.
struct SuggestedName {
    /// The name; at most 255 bytes of UTF-8.
    let text: String

    /// The most bytes of a name on Linux (NAME_MAX).
    static let maximumBytes = 255
    /// The default name.
    private static let standard = "download"

    /// Chooses the name of a response.
    init(_ head: ResponseHead, url: String?) {
        let disposition = head.fields.first("content-disposition").map(SuggestedName.start)
        text =
            SuggestedName.safe(disposition.flatMap(SuggestedName.name(inDisposition:)))
            ?? SuggestedName.safe(url.flatMap(SuggestedName.name(inURL:))) ?? SuggestedName.standard
    }

    /// Removes from a name what could lead elsewhere, hide the file or garble a terminal: directories, control
    /// characters, dots at the beginning.
    private static func safe(_ name: String?) -> String? {
        let parts = name?.unicodeScalars.split { $0 == "/" || $0 == "\\" }
        guard let last = parts?.last else { return nil }
        let printable = last.lazy.filter { $0.properties.generalCategory != .control }
        let visible = printable.drop { $0 == "." || $0 == " " }.prefix(maximumScalars)
        var name = ""
        for character in String(String.UnicodeScalarView(visible)) {
            guard name.utf8.count + character.utf8.count <= maximumBytes else { break }
            name.append(character)
        }
        while name.last == " " { name.removeLast() }
        return name.isEmpty ? nil : name
    }

    /// The most scalars of a name: more than its bytes, so that the last character is complete.
    private static let maximumScalars = 2 * maximumBytes
    /// The most bytes of a field that are read: Swift steps back through some texts in quadratic time.
    private static let maximumFieldBytes = 8_192

    private static func start(of field: String) -> String {
        guard field.utf8.count > maximumFieldBytes else { return field }
        return String(decoding: field.utf8.prefix(maximumFieldBytes), as: UTF8.self)
    }

    // MARK: Content-Disposition

    /// The parameter `filename*`, or else `filename`.
    private static func name(inDisposition text: String) -> String? {
        var plain: String?
        for (name, value) in parameters(of: text) {
            if name == "filename*", let decoded = extended(value) { return decoded }
            if name == "filename", plain == nil { plain = value }
        }
        return plain
    }

    /// The parameters behind the type, with lower-case names and without quotes (RFC 9110, section 5.6.6).
    private static func parameters(of text: String) -> [(name: String, value: String)] {
        var parts: [String] = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in text.unicodeScalars {
            let last = parts.count - 1
            if isEscaped {
                parts[last].unicodeScalars.append(character)
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ";", !isQuoted {
                parts.append("")
            } else {
                parts[last].unicodeScalars.append(character)
            }
        }
        return parts.dropFirst().compactMap { part in
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2 else { return nil }
            return (trimmed(sides[0]).lowercased(), trimmed(sides[1]))
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" }
        let scalars = text.unicodeScalars.drop(while: isBlank)
        guard let last = scalars.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(String.UnicodeScalarView(scalars[...last]))
    }

    /// `UTF-8'language'percent-encoded` (RFC 8187, section 3.2).
    private static func extended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return percentDecoded(parts[2])
    }

    // MARK: URL

    private static func name(inURL url: String) -> String? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = path.firstRange(of: "://"), let slash = path[scheme.upperBound...].firstIndex(of: "/")
        else { return nil }
        return path[slash...].split(separator: "/", omittingEmptySubsequences: false).last.flatMap(percentDecoded)
    }

    /// Percent-decodes a text; `nil` if the result is not valid UTF-8.
    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = digit(rest.first), let low = digit(rest.dropFirst().first) {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(UnicodeScalar($0)).hexDigitValue }.flatMap { UInt8(exactly: $0) }
    }
}
