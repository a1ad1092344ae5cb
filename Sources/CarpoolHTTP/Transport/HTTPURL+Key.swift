internal import Glibc

extension HTTPURL {
    /// The URL as the key of a stored response: without fragment, with scheme and host in lower case and without the
    /// scheme's default port. Nothing else is normalised (RFC 9110, section 4.2.3, allows more).
    public var withoutFragment: String {
        var text = description
        let end: Int? = text.withUTF8 { bytes in
            guard hasNormalOrigin(UnsafeRawBufferPointer(bytes)) else { return nil }
            return bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        }
        guard let end else { return "\(normalOrigin)\(requestTarget)" }
        return end == text.utf8.count ? text : String(text.utf8.prefix(end)) ?? text
    }

    private var hasDefaultPort: Bool { origin.port == (origin.scheme == "https" ? 443 : 80) }

    private var normalOrigin: String { HTTPURL.normalText(of: origin) }

    /// An origin as the keys of its URLs begin: without the scheme's default port.
    public static func normalText(of origin: Origin) -> String {
        let isDefault = origin.port == (origin.scheme == "https" ? 443 : 80)
        return "\(origin.scheme)://\(origin.hostWithZone)\(isDefault ? "" : ":\(origin.port)")"
    }

    /// Whether the text begins as ``normalOrigin`` does, followed by a path.
    private func hasNormalOrigin(_ text: UnsafeRawBufferPointer) -> Bool {
        guard origin.zone == nil else { return false }
        var position = 0
        guard HTTPURL.skip(origin.scheme, in: text, &position), HTTPURL.skip("://", in: text, &position),
            HTTPURL.skip(origin.host, in: text, &position)
        else { return false }
        if !hasDefaultPort, !HTTPURL.skip(":\(origin.port)", in: text, &position) { return false }
        return position < text.count && text[position] == UInt8(ascii: "/")
    }

    private static func skip(_ part: String, in text: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        var part = part
        return part.withUTF8 { part in
            guard text.count - position >= part.count, let start = text.baseAddress, let other = part.baseAddress,
                memcmp(start + position, other, part.count) == 0
            else { return false }
            position += part.count
            return true
        }
    }
}
