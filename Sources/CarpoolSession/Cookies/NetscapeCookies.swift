/// The text form of cookies that curl, wget and Python's `http.cookiejar` write: one cookie a line, seven members with
/// tabs between them. As in curl's, a line may also be a `Set-Cookie` field.
public enum NetscapeCookies {
    /// Why a text cannot be read.
    public enum Refusal: Error {
        /// The text has more cookies than a jar.
        case tooMany
        /// The text has more lines than a jar of cookies with comments.
        case tooManyLines
    }

    /// The most lines of a text, comments included, since each takes time.
    public static let maximumLines = 20_000

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
        // Before any is read.
        let lines = text.utf8.reduce(1) { $1 == 0x0A || $1 == 0x0D ? $0 + 1 : $0 }
        guard lines <= maximumLines else { throw .tooManyLines }
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
        guard let domain = CookieDomain.normalized(texts[0]), let expiry = expiry(texts[4]) else { return nil }
        let isHostOnly = texts[1].uppercased() != "TRUE"
        // Such a cookie would be sent to all hosts below the suffix.
        guard isHostOnly || !PublicSuffixes.contains(domain) else { return nil }
        let cookie = Cookie(
            name: trimmed(texts[5]), value: members.count == 7 ? trimmed(texts[6]) : "", domain: domain,
            isHostOnly: isHostOnly,
            path: texts[2], expires: expiry <= 0 ? nil : expiry, isSecure: texts[3].uppercased() == "TRUE",
            isHTTPOnly: isHTTPOnly)
        return cookie.problem == nil ? cookie : nil
    }

    /// Whole seconds since 1970. Browsers write fractions too.
    private static func expiry(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 || parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(parts[0])
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
        let host = CookieDomain.inFile(cookie.domain)
        let domain = cookie.isHostOnly ? host : ".\(host)"
        let members = [
            domain, cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
            String(cookie.expires ?? 0), cookie.name, cookie.value,
        ]
        return prefix + members.joined(separator: "\t") + "\n"
    }
}
