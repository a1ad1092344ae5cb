/// A parsed `Set-Cookie` field (RFC 6265bis, section 5.6). What it means depends on the URL of its response.
struct SetCookie {
    private(set) var name = ""
    private(set) var value = ""
    /// The value of `Domain` in lower case, without a dot before it; empty for none.
    private(set) var domain = ""
    /// The value of `Path`; `nil` for the default path.
    private(set) var path: String?
    private(set) var expires: Int64?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    private(set) var sameSite: Cookie.SameSite?

    /// The longest value of an attribute that is not ignored.
    private static let maximumAttributeBytes = 1_024
    /// The longest life of a cookie, in seconds: 400 days.
    private static let maximumAge: Int64 = 34_560_000

    /// Parses the value of a field; `nil` if the field is to be ignored: it has control characters, is not UTF-8, is
    /// too long, or has neither a name nor a value.
    init?(_ field: some Collection<UInt8>, at now: Int64) {
        let field = Array(field)
        guard !field.contains(where: SetCookie.isControl), String(validating: field, as: UTF8.self) != nil else {
            return nil
        }
        var parts = field.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let first = parts.popFirst(), parse(pair: first) else { return nil }
        var maximumAge: Int64?
        for part in parts { parse(attribute: part, at: now, &maximumAge) }
        // Max-Age takes precedence over Expires.
        let latest = now &+ SetCookie.maximumAge
        expires =
            maximumAge.map { $0 <= 0 ? 0 : now &+ min($0, SetCookie.maximumAge) } ?? expires.map { min($0, latest) }
    }

    private mutating func parse(pair: ArraySlice<UInt8>) -> Bool {
        let (left, right) = SetCookie.split(pair)
        // Without an equals sign everything is the value.
        guard let name = String(validating: right == nil ? [] : left, as: UTF8.self),
            let value = String(validating: right ?? left, as: UTF8.self)
        else { return false }
        (self.name, self.value) = (name, value)
        let bytes = name.utf8.count + value.utf8.count
        return bytes > 0 && bytes <= Cookie.maximumBytes
    }

    private mutating func parse(attribute: ArraySlice<UInt8>, at now: Int64, _ maximumAge: inout Int64?) {
        let (left, right) = SetCookie.split(attribute)
        let value = right ?? []
        guard value.count <= SetCookie.maximumAttributeBytes else { return }
        switch String(decoding: left, as: UTF8.self).lowercased() {
        case "expires": expires = CookieDate.seconds(value) ?? expires
        case "max-age": maximumAge = SetCookie.age(value) ?? maximumAge
        case "domain":
            let name = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
            domain = String(decoding: name, as: UTF8.self).lowercased()
        case "path":
            path = value.first == UInt8(ascii: "/") ? String(decoding: value, as: UTF8.self) : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            let text = String(decoding: value, as: UTF8.self).lowercased()
            sameSite = Cookie.SameSite.allCases.first { $0.rawValue.lowercased() == text }
        default: break
        }
    }

    /// Seconds; `nil` if it is not a number. One that is too large is the largest.
    private static func age(_ text: ArraySlice<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return isNegative ? -1 : Int64(String(decoding: digits, as: UTF8.self)) ?? maximumAge
    }

    /// The text before and after the first equals sign, without blanks around them.
    private static func split(_ text: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(text), nil) }
        return (trimmed(text[..<equals]), trimmed(text[(equals + 1)...]))
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let rest = text.drop { $0 == 0x20 || $0 == 0x09 }
        guard let last = rest.lastIndex(where: { $0 != 0x20 && $0 != 0x09 }) else { return [] }
        return rest[...last]
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }
}

extension SetCookie {
    /// The cookie that the response of a URL sets; `nil` if that URL must not set it (RFC 6265bis, section 5.7).
    func cookie(from target: CookieTarget) -> Cookie? {
        let host = target.host
        guard isSecure ? target.isSecure : true, domain.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var domain = self.domain
        // A public suffix may set cookies for itself alone.
        if !domain.isEmpty, domain != host, PublicSuffixes.contains(domain) { return nil }
        if domain == host, Cookie.isAddress(host) || PublicSuffixes.contains(domain) { domain = "" }
        guard domain.isEmpty || Cookie.matches(host: host, domain: domain) else { return nil }
        let cookie = Cookie(
            name: name, value: value, domain: domain.isEmpty ? host : domain, isHostOnly: domain.isEmpty,
            path: path ?? Cookie.defaultPath(of: target.path), expires: expires, isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, sameSite: sameSite)
        return cookie.problem == nil && cookie.keepsItsPrefix(hasPath: path != nil) ? cookie : nil
    }
}

extension Cookie {
    /// Whether the cookie has the properties that the prefix of its name requires (RFC 6265bis, section 4.1.3).
    func keepsItsPrefix(hasPath: Bool = true) -> Bool {
        func begins(_ text: String, with prefix: String) -> Bool {
            text.utf8.prefix(prefix.utf8.count).map { $0 | 0x20 }.elementsEqual(prefix.utf8.map { $0 | 0x20 })
        }
        // A server that reads `=__Host-a=b` as a cookie with a name must not take it for one.
        if name.isEmpty { return !begins(value, with: "__Secure-") && !begins(value, with: "__Host-") }
        if begins(name, with: "__Secure-") { return isSecure }
        guard begins(name, with: "__Host-") else { return true }
        return isSecure && isHostOnly && path == "/" && hasPath
    }
}
