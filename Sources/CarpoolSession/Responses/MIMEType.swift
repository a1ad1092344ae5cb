/// A media type or a range of them: `type/subtype`, where either may be `*` (RFC 9110, sections 8.3.1 and 12.5.1).
public struct MIMEType: Hashable, Sendable, CustomStringConvertible {
    /// The part before the slash, in lower case.
    public let type: String
    /// The part after the slash, in lower case.
    public let subtype: String

    /// Reads `type/subtype`; parameters after `;` and surrounding blanks are ignored. `nil` for anything else: `text`
    /// alone is not a type (VA-10).
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let range = MIMEType.trimmed(bytes[..<(bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.count)])
        guard let slash = range.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let parts = [range[..<slash], range[(slash + 1)...]]
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(MIMEType.isVisible) }),
            !parts[1].contains(UInt8(ascii: "/"))
        else { return nil }
        type = MIMEType.lowered(parts[0])
        subtype = MIMEType.lowered(parts[1])
    }

    /// Whether this is `*/*`.
    public var isWildcard: Bool { type == "*" && subtype == "*" }

    /// Whether this type accepts a response of that type (VA-04). Only wildcards on this side count: an origin that
    /// sends `text/*` has not named a type.
    public func matches(_ response: MIMEType) -> Bool {
        (type == "*" || type == response.type) && (subtype == "*" || subtype == response.subtype)
    }

    /// The text `type/subtype`.
    public var description: String { "\(type)/\(subtype)" }

    /// The parameter `charset` of a `Content-Type`, without its quotes (RFC 9110, section 5.6.6).
    static func charset(of contentType: String) -> String? {
        // An array: iterating over the bytes of a text that long takes a hundred times as long.
        var rest = Array(contentType.utf8)[...]
        while let semicolon = endOfParameter(in: rest) {
            rest = rest[(semicolon + 1)...]
            let parameter = rest[..<(endOfParameter(in: rest) ?? rest.endIndex)]
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")),
                lowered(trimmed(parameter[..<equals])) == "charset"
            else { continue }
            let value = trimmed(parameter[(equals + 1)...])
            return String(decoding: value.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        }
        return nil
    }

    /// The first semicolon that is not inside quotes.
    private static func endOfParameter(in text: ArraySlice<UInt8>) -> Int? {
        var isQuoted = false
        return text.firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ";") && !isQuoted
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let first = bytes.firstIndex(where: isVisible), let last = bytes.lastIndex(where: isVisible) else {
            return bytes[bytes.endIndex...]
        }
        return bytes[first...last]
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F }

    private static func lowered(_ bytes: ArraySlice<UInt8>) -> String {
        let isUpper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: bytes.map { isUpper.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
