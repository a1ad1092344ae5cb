/// The text form of cookies that curl, wget and Python's `http.cookiejar` write: one cookie a line, seven members with
/// tabs between them. As in curl's, a line may also be a `Set-Cookie` field.
public enum NetscapeCookies {
    /// Why a text cannot be read.
    public enum Refusal: Error {
        /// The text has more cookies than a jar.
        case tooMany
    }

    /// The beginning of a file, by which other programs know it.
    static let heading = "# Netscape HTTP Cookie File\n"
    private static let httpOnlyPrefix = "#HttpOnly_"

    /// Reads the cookies of a text. Lines that are no cookies are ignored, as in curl.
    /// - Parameter target: the request that the cookies are for: `Set-Cookie` lines belong to its host.
    public static func read(
        _ text: String, for target: CookieTarget?, withoutSessionCookies: Bool = false
    ) throws(Refusal) -> [Cookie] {
        let now = CookieJar.now
        var cookies: [Cookie] = []
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let cookie = cookie(line, target, at: now), !(withoutSessionCookies && cookie.expires == nil) else {
                continue
            }
            guard cookies.count < CookieJar.Limits.cookies else { throw .tooMany }
            cookies.append(cookie)
        }
        return cookies
    }

    private static func cookie(_ line: Substring.UTF8View, _ target: CookieTarget?, at now: Int64) -> Cookie? {
        let field = "set-cookie:".utf8
        if line.count > field.count, zip(line, field).allSatisfy({ $0 | 0x20 == $1 || $0 == $1 }) {
            guard let target else { return nil }
            return SetCookie(line.dropFirst(field.count), at: now)?.cookie(from: target)
        }
        let isHTTPOnly = line.starts(with: httpOnlyPrefix.utf8)
        guard isHTTPOnly || line.first != UInt8(ascii: "#") else { return nil }
        let rest = isHTTPOnly ? line.dropFirst(httpOnlyPrefix.utf8.count) : line
        return cookie(members: rest.split(separator: 0x09, maxSplits: 6, omittingEmptySubsequences: false), isHTTPOnly)
    }

    /// Domain, whether it is for the hosts below it, path, whether it is secure, expiry, name and value.
    private static func cookie(members: [Substring.UTF8View], _ isHTTPOnly: Bool) -> Cookie? {
        // A cookie with an empty value may lack the last tab.
        guard members.count == 7 || members.count == 6 else { return nil }
        let texts = members.map { String(Substring($0)) }
        let written = texts[0].hasPrefix(".") ? String(texts[0].dropFirst()) : texts[0]
        let domain = written.lowercased()
        guard !domain.isEmpty, let expiry = Int64(texts[4]), texts[2].hasPrefix("/") else { return nil }
        let isHostOnly = texts[1].uppercased() != "TRUE"
        // Such a cookie would be sent to all hosts below the suffix.
        guard isHostOnly || !PublicSuffixes.contains(domain) else { return nil }
        let cookie = Cookie(
            name: trimmed(texts[5]), value: members.count == 7 ? trimmed(texts[6]) : "", domain: domain,
            isHostOnly: isHostOnly,
            path: texts[2], expires: expiry <= 0 ? nil : expiry, isSecure: texts[3].uppercased() == "TRUE",
            isHTTPOnly: isHTTPOnly)
        return cookie.problem == nil && domain.utf8.count <= 255 ? cookie : nil
    }

    /// A text without the blanks around it, which no field keeps.
    private static func trimmed(_ text: String) -> String {
        guard text.utf8.first == 0x20 || text.utf8.last == 0x20 || text.utf8.last == 0x09 else { return text }
        let rest = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        let last = rest.lastIndex { $0 != 0x20 && $0 != 0x09 }
        return last.map { String(Substring(rest[...$0])) } ?? ""
    }

    /// The text of cookies.
    public static func text(_ cookies: [Cookie]) -> String {
        var text = heading
        for cookie in cookies where cookie.origin == nil { text += line(cookie) }
        return text
    }

    /// One line of the text, with its end.
    public static func line(_ cookie: Cookie) -> String {
        let prefix = cookie.isHTTPOnly ? httpOnlyPrefix : ""
        let domain = cookie.isHostOnly ? cookie.domain : ".\(cookie.domain)"
        let members = [
            domain, cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
            String(cookie.expires ?? 0), cookie.name, cookie.value,
        ]
        return prefix + members.joined(separator: "\t") + "\n"
    }
}

extension Cookie {
    /// Why a cookie cannot be stored.
    public struct Problem {
        /// The member, as the interface names it.
        public let member: StaticString
        /// What is wrong with it.
        public let message: String
        /// What it should be.
        public let expected: String
    }

    /// Why the cookie cannot be part of a field and of a line, or does not have the properties that its name promises;
    /// `nil` if it can be stored.
    public var problem: Problem? {
        if name.isEmpty, value.isEmpty {
            return Problem(member: "name", message: "name and value are empty", expected: "a name")
        }
        if name.utf8.count + value.utf8.count > Cookie.maximumBytes {
            return Problem(
                member: "value", message: "name and value have more than \(Cookie.maximumBytes) bytes",
                expected: "at most \(Cookie.maximumBytes) bytes together")
        }
        let clean = "text without control characters and semicolons, and without blanks around it"
        if !Cookie.isClean(name) || name.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == 0x09 }) {
            return Problem(
                member: "name", message: "a control character, a semicolon, an equals sign, or a blank at an end",
                expected: "\(clean), and without equals signs")
        }
        if !Cookie.isClean(value) {
            return Problem(
                member: "value", message: "a control character, a semicolon, or a blank at an end", expected: clean)
        }
        if path.utf8.first != UInt8(ascii: "/") || path.utf8.count > 1_024 || !Cookie.isClean(path) {
            return Problem(member: "path", message: "not a path", expected: "a path that begins with a slash")
        }
        guard !keepsItsPrefix() else { return nil }
        return Problem(
            member: "name", message: "the prefix of the name promises more than the cookie has",
            expected: "secure true for __Secure-; also host_only true and path / for __Host-")
    }

    private static func isClean(_ text: String) -> Bool {
        func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
        guard !isBlank(text.utf8.first), !isBlank(text.utf8.last) else { return false }
        return text.utf8.allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F && $0 != UInt8(ascii: ";") }
    }
}
