/// Removes secrets from texts that others may read: values that ``SecretNames`` names, and user information of URLs.
public enum Redaction {
    /// The replacement for a secret.
    public static let mark = "(hidden)"

    /// A URL, or a text with URLs in it, without user information, and without the values of secret parameters in
    /// queries and fragments.
    /// - Parameter count: the least number of bytes that are needed; what follows them may be missing.
    public static func withoutSecrets(_ text: String, atLeast count: Int = .max) -> String {
        guard canContainSecret(text) else { return text }
        return withoutParameters(withoutUserInformation(text, everywhere: true, atLeast: count), atLeast: count)
    }

    /// The URL without `user:password@`. Works on any text, because invalid URLs are shown too: a scheme followed by
    /// one slash, three or none counts as a URL.
    public static func withoutUserInformation(_ url: String) -> String {
        withoutUserInformation(url, everywhere: false)
    }

    /// The value to show of a header field that is not secret by its name: `Location` and the like contain URLs.
    public static func shown(_ value: String, of name: some StringProtocol) -> String {
        SecretNames.contains(name) ? mark : withoutSecrets(value)
    }

    /// Whether a text has a character without which it cannot contain a secret.
    public static func canContainSecret(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in bytes.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") } }
    }

    // MARK: User information

    private static func withoutUserInformation(_ text: String, everywhere: Bool, atLeast count: Int = .max) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "@")) else { return text }
        var shown: [UInt8] = []
        var rest = bytes[...]
        // The text from here on was not searched for user information: each part is searched once, however many colons
        // it has.
        var searched = 0
        while shown.count < count, let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            let start = rest[(colon + 1)...].firstIndex { $0 != slash && $0 != backslash } ?? rest.endIndex
            // Inside a text only two slashes begin an authority: `time: 12@home` has none.
            let isWholeURL = shown.isEmpty && !rest[..<colon].contains { $0 <= 0x20 }
            let isAuthority = start - colon > 2 || isWholeURL
            shown += rest[..<start]
            rest = rest[start...]
            if isAuthority, start >= searched {
                // Blanks end a URL inside a text, but not one that was given with blanks by mistake.
                let authority = rest.prefix { !endsAuthority($0) && (isWholeURL || $0 > 0x20) }
                searched = authority.endIndex
                if let at = authority.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
            }
            if !everywhere { break }
        }
        if shown.count < count { shown += rest }
        return String(decoding: shown, as: UTF8.self)
    }

    private static let slash = UInt8(ascii: "/")
    private static let backslash = UInt8(ascii: "\\")

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == slash || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    // MARK: Parameters

    private static func withoutParameters(_ text: String, atLeast count: Int) -> String {
        var text = text
        let shown = text.withUTF8 { withoutParameters($0, atLeast: count) }
        return shown.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// The bytes without values of secrets, up to where they were examined; `nil` if all were, and there is no secret.
    private static func withoutParameters(_ bytes: UnsafeBufferPointer<UInt8>, atLeast count: Int) -> [UInt8]? {
        var shown: [UInt8] = []
        var (taken, start) = (0, 0)
        while shown.count + start - taken < count, let equals = bytes[start...].firstIndex(of: UInt8(ascii: "=")) {
            start = equals + 1
            guard start < bytes.count, !endsValue(bytes[start]), namesSecret(name(before: equals, in: bytes)) else {
                continue
            }
            shown += bytes[taken..<start]
            shown += mark.utf8
            start = bytes[start...].firstIndex(where: endsValue) ?? bytes.endIndex
            taken = start
        }
        let isWhole = shown.count + start - taken < count
        if isWhole, taken == 0 { return nil }
        shown += bytes[taken..<(isWhole ? bytes.count : start)]
        return shown
    }

    private static func name(
        before equals: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8> {
        let first = max(0, equals - maximumNameBytes)
        var start = equals
        while start > first, !beginsName(bytes[start - 1]) { start -= 1 }
        return UnsafeBufferPointer(rebasing: bytes[start..<equals])
    }

    private static func namesSecret(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.contains(UInt8(ascii: "%")) else { return SecretNames.contains(utf8: name) }
        return SecretNames.contains(percentDecoded(Array(name)))
    }

    /// The most bytes of a name that are examined.
    private static let maximumNameBytes = 128

    private static func beginsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "#"), UInt8(ascii: "="), slash: true
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: ","): true
        default: byte <= 0x20
        }
    }

    private static func endsValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "#"): true
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): true
        default: byte <= 0x20
        }
    }

    private static func percentDecoded(_ bytes: [UInt8]) -> String {
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let digits = bytes[index...].dropFirst().prefix(2)
            if bytes[index] == UInt8(ascii: "%"), digits.count == 2,
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
