internal import CarpoolHTTP

/// The field `Cookie` of a request (RFC 6265bis, section 5.8.3).
enum CookieField {
    /// The field with cookies, in their order; `nil` for none.
    static func field(_ cookies: [Cookie]) -> HTTPField? {
        let (count, bytes) = extent(of: cookies)
        guard count > 0 else { return nil }
        // Written at once: a text that grows is copied several times.
        let value = String(unsafeUninitializedCapacity: bytes) { buffer in
            var end = 0
            func append(_ text: String.UTF8View) { end = buffer[end...].update(fromContentsOf: text) }
            for cookie in cookies[..<count] {
                if end > 0 { append("; ".utf8) }
                // A cookie without a name is its value.
                if !cookie.name.isEmpty {
                    append(cookie.name.utf8)
                    append("=".utf8)
                }
                append(cookie.value.utf8)
            }
            return end
        }
        return try? HTTPField(name: "Cookie", value: value)
    }

    /// The cookies that are sent: the first ones, up to the limits of a field that servers accept.
    static func sent(_ cookies: [Cookie]) -> [Cookie] { Array(cookies[..<extent(of: cookies).count]) }

    /// How many of the cookies are sent, and the most bytes that they take.
    private static func extent(of cookies: [Cookie]) -> (count: Int, bytes: Int) {
        var (count, bytes) = (0, 0)
        for cookie in cookies.prefix(CookieJar.Limits.sentCookies) {
            let more = cookie.name.utf8.count + cookie.value.utf8.count + 3
            guard bytes + more <= CookieJar.Limits.sentBytes else { break }
            count += 1
            bytes += more
        }
        return (count, bytes)
    }
}
