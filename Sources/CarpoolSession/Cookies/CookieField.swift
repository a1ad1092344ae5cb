internal import CarpoolHTTP

/// The field `Cookie` of a request (RFC 6265bis, section 5.8.3).
enum CookieField {
    /// The field with cookies, in their order; `nil` for none.
    static func field(_ cookies: [Cookie]) -> HTTPField? {
        let texts = sent(cookies).map(text)
        return texts.isEmpty ? nil : try? HTTPField(name: "Cookie", value: texts.joined(separator: "; "))
    }

    /// The cookies that are sent: the first ones, up to the limits of a field that servers accept.
    static func sent(_ cookies: [Cookie]) -> [Cookie] {
        var bytes = 0
        var sent: [Cookie] = []
        for cookie in cookies.prefix(CookieJar.Limits.sentCookies) {
            bytes += text(cookie).utf8.count + 2
            guard bytes <= CookieJar.Limits.sentBytes else { break }
            sent.append(cookie)
        }
        return sent
    }

    /// A cookie without a name is its value.
    private static func text(_ cookie: Cookie) -> String {
        cookie.name.isEmpty ? cookie.value : "\(cookie.name)=\(cookie.value)"
    }
}
