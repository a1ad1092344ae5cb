internal import CarpoolHTTP

/// The field `Cookie` of a request (RFC 6265bis, section 5.8.3).
enum CookieField {
    /// The field with cookies, in their order; `nil` for none.
    static func field(_ cookies: [Cookie]) -> HTTPField? {
        var value = ""
        for cookie in sent(cookies) {
            if !value.isEmpty { value += "; " }
            // A cookie without a name is its value.
            if !cookie.name.isEmpty {
                value += cookie.name
                value += "="
            }
            value += cookie.value
        }
        return value.isEmpty ? nil : try? HTTPField(name: "Cookie", value: value)
    }

    private static func bytes(of cookie: Cookie) -> Int { cookie.name.utf8.count + cookie.value.utf8.count + 3 }

    /// The cookies that are sent: the first ones, up to the limits of a field that servers accept.
    static func sent(_ cookies: [Cookie]) -> [Cookie] {
        var bytes = 0
        var sent: [Cookie] = []
        for cookie in cookies.prefix(CookieJar.Limits.sentCookies) {
            guard bytes + self.bytes(of: cookie) <= CookieJar.Limits.sentBytes else { break }
            bytes += self.bytes(of: cookie)
            sent.append(cookie)
        }
        return sent
    }
}
