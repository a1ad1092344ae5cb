/// What distinguishes a cookie from others of a jar, by its bytes: to Swift, texts are equal that only look the same.
private struct CookieIdentity: Hashable {
    private let bytes: [UInt8]

    init(_ cookie: Cookie) {
        // No part has a NUL, which is a control character.
        bytes =
            Array(cookie.name.utf8) + [0] + Array(cookie.domain.utf8) + [cookie.isHostOnly ? 1 : 0]
            + Array(cookie.path.utf8)
    }
}

extension CookieJar {
    /// The difference to the cookies that the jar began with: those that are new or have changed, and those that it no
    /// longer has, with an end of their life in the past. Added to a jar with the same cookies in their order, they
    /// make it equal to this one.
    func changes(since first: [Cookie]) -> [Cookie] {
        var before: [CookieIdentity: Cookie] = [:]
        before.reserveCapacity(first.count)
        for cookie in first { before[CookieIdentity(cookie)] = cookie }
        var changed: [Cookie] = []
        for cookie in all() {
            if before.removeValue(forKey: CookieIdentity(cookie)) != cookie { changed.append(cookie) }
        }
        // In their order, and not in that of the table.
        for cookie in first where before.removeValue(forKey: CookieIdentity(cookie)) != nil {
            changed.append(
                Cookie(
                    name: cookie.name, value: "", domain: cookie.domain, isHostOnly: cookie.isHostOnly,
                    path: cookie.path, expires: 0, isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly))
        }
        return changed
    }
}
