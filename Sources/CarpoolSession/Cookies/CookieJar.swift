internal import CarpoolHTTP
internal import CarpoolSystem

/// The cookies of a session, or of one request (RFC 6265bis, section 5.7): what servers have set, and what is sent to
/// them.
///
/// The cookies are in lists by their site, so that a request looks only at those of the hosts that belong to its own.
public final class CookieJar: SharedMemoryOwner {
    /// Limits of a jar.
    public enum Limits {
        /// The most cookies of one site, as in Chromium, so that a site cannot remove those of others; beyond it
        /// ``keptOfSite`` stay.
        public static let cookiesOfSite = 180
        static let keptOfSite = 150
        /// The most cookies; beyond it ``kept`` stay.
        public static let cookies = 3_000
        static let kept = 2_700
        /// The most cookies that one response sets, as in libcurl.
        static let cookiesOfResponse = 50
        /// The most cookies that are sent with a request, and the most bytes of their field, as in libcurl: servers
        /// refuse longer fields.
        static let sentCookies = 150
        static let sentBytes = 8_190
    }

    struct Entry {
        var cookie: Cookie
        /// The number of the change that created it; it stays if the cookie is replaced.
        let created: Int
        /// The number of the change or of the request that has used it last.
        var used: Int

        /// The order in which cookies are removed: the expired ones, then those that are not secure, each from the one
        /// that was not used for the longest time (RFC 6265bis, section 5.7).
        func rank(at now: Int64) -> (Int, Int) {
            (cookie.isExpired(at: now) ? 0 : cookie.isSecure ? 2 : 1, used)
        }
    }

    private var sites = CookieSites()
    /// How many cookies there are, expired ones included until they are found.
    public private(set) var count = 0
    /// Their memory in bytes.
    public private(set) var bytes = 0
    private var clock = 0
    private var memory: (any SharedMemory)?
    private var uncountedBytes = 0
    /// Called after each change.
    public var didChange: (() -> Void)?

    /// Makes a jar.
    /// - Parameters:
    ///   - cookies: the first cookies. Their memory is counted elsewhere if there is an account.
    ///   - memory: the account of what is added to them; `nil` for no limit.
    public init(_ cookies: [Cookie] = [], memory: (any SharedMemory)? = nil) {
        add(cookies)
        uncountedBytes = bytes
        self.memory = memory
    }

    /// Seconds since 1970.
    public static var now: Int64 { WallClock.microseconds() / 1_000_000 }

    // MARK: Responses

    /// Stores the cookies that a response sets.
    func store(
        _ fields: FieldBlock, from target: @autoclosure () -> CookieTarget, at now: Int64 = CookieJar.now
    ) {
        var found: [Cookie] = []
        // Most responses set none.
        var origin: CookieTarget?
        fields.forEach { name, value in
            guard found.count < Limits.cookiesOfResponse, name.count == CookieJar.fieldName.count,
                zip(name, CookieJar.fieldName).allSatisfy({ $0 | 0x20 == $1 })
            else { return }
            let target = origin ?? target()
            origin = target
            if let cookie = SetCookie(value, at: now)?.cookie(from: target) { found.append(cookie) }
        }
        guard let origin, !found.isEmpty else { return }
        add(found, at: now) { mayReplace($0, from: origin) }
    }

    private static let fieldName = Array("set-cookie".utf8)

    /// Whether a response over a plain connection may set a cookie: not in place of one that is for secure connections
    /// (RFC 6265bis, section 5.7, step 16), of its domain, of a domain above it or below it.
    private func mayReplace(_ cookie: Cookie, from target: CookieTarget) -> Bool {
        guard !cookie.isSecure, !target.isSecure else { return true }
        return !sites[cookie.domain].contains { entry in
            let known = entry.cookie
            return known.isSecure && known.name.utf8.elementsEqual(cookie.name.utf8)
                && (Cookie.matches(host: known.domain, domain: cookie.domain)
                    || Cookie.matches(host: cookie.domain, domain: known.domain))
                && Cookie.matches(path: cookie.path[...], cookiePath: known.path)
        }
    }

    // MARK: Changes

    /// Adds cookies in their order. Each replaces the one with the same name, domain and path; one that has expired
    /// only removes it. Beyond a limit the cookies are removed that were not used for the longest time.
    public func add(_ cookies: [Cookie]) { add(cookies, at: CookieJar.now) { _ in true } }

    private func add(_ cookies: [Cookie], at now: Int64, where isAllowed: (Cookie) -> Bool) {
        var isChanged = false
        for cookie in cookies where isAllowed(cookie) {
            clock &+= 1
            isChanged = true
            put(cookie, at: now)
            if count > Limits.cookies { removeLeastUsed(keeping: Limits.kept, at: now) }
        }
        guard isChanged else { return }
        // Without room for all of them, the half that was used last stays, and so on.
        while let memory, !memory.count(countedBytes, for: self), count > 0 { removeHalf(at: now) }
        didChange?()
    }

    private func put(_ cookie: Cookie, at now: Int64) {
        sites.change(cookie.domain) { entries in
            let place = entries.firstIndex { $0.cookie.hasIdentity(of: cookie) }
            if let place { release(entries[place].cookie) }
            guard !cookie.isExpired(at: now) else {
                if let place { entries.remove(at: place) }
                return
            }
            count &+= 1
            bytes &+= cookie.memoryBytes
            let entry = Entry(cookie: cookie, created: place.map { entries[$0].created } ?? clock, used: clock)
            if let place { entries[place] = entry } else { entries.append(entry) }
            guard entries.count > Limits.cookiesOfSite else { return }
            entries.sort { $0.rank(at: now) < $1.rank(at: now) }
            for entry in entries.prefix(entries.count - Limits.keptOfSite) { release(entry.cookie) }
            entries.removeFirst(entries.count - Limits.keptOfSite)
        }
    }

    private func release(_ cookie: Cookie) {
        count &-= 1
        bytes &-= cookie.memoryBytes
    }

    /// Removes the cookies that fulfil a condition. Returns how many.
    @discardableResult public func remove(where condition: (Cookie) -> Bool) -> Int {
        let removed = drop { condition($0.cookie) }
        guard removed > 0 else { return 0 }
        _ = memory?.count(countedBytes, for: self)
        didChange?()
        return removed
    }

    private func drop(where condition: (Entry) -> Bool) -> Int {
        let before = count
        sites.changeAll { entries in
            entries.removeAll { entry in
                let isRemoved = condition(entry)
                if isRemoved { release(entry.cookie) }
                return isRemoved
            }
        }
        return before - count
    }

    // MARK: Limits

    private var countedBytes: Int { max(0, bytes &- uncountedBytes) }

    /// Removes the half of the cookies that was not used for the longest time, to make room.
    public func removeHalf() {
        removeHalf(at: CookieJar.now)
        _ = memory?.count(countedBytes, for: self)
        didChange?()
    }

    private func removeHalf(at now: Int64) { removeLeastUsed(keeping: count / 2, at: now) }

    private func removeLeastUsed(keeping limit: Int, at now: Int64) {
        var ranked: [(rank: (Int, Int), created: Int)] = []
        ranked.reserveCapacity(count)
        sites.forEach { ranked.append(($0.rank(at: now), $0.created)) }
        ranked.sort { $0.rank < $1.rank }
        let removed = Set(ranked.dropLast(limit).map(\.created))
        _ = drop { removed.contains($0.created) }
    }

    // MARK: Requests

    /// The cookies for a request in the order in which they are sent: longer paths first, then the older ones
    /// (RFC 6265bis, section 5.8.3).
    /// - Parameter isUse: whether they count as used; not if they are only shown.
    func cookies(for target: CookieTarget, at now: Int64 = CookieJar.now, isUse: Bool = true) -> [Cookie] {
        guard count > 0 else { return [] }
        clock &+= 1
        var found: [(cookie: Cookie, created: Int)] = []
        let (host, isSecure) = (target.host, target.isSecure)
        sites.change(host) { entries in
            for place in entries.indices {
                let cookie = entries[place].cookie
                guard cookie.isHostOnly ? cookie.domain == host : Cookie.matches(host: host, domain: cookie.domain),
                    !cookie.isExpired(at: now), isSecure || !cookie.isSecure,
                    cookie.origin.map({ $0 == target.origin }) ?? true,
                    Cookie.matches(path: target.path, cookiePath: cookie.path)
                else { continue }
                if isUse { entries[place].used = clock }
                found.append((cookie, entries[place].created))
            }
        }
        found.sort { a, b in
            let (longer, shorter) = (a.cookie.path.utf8.count, b.cookie.path.utf8.count)
            return longer == shorter ? a.created < b.created : longer > shorter
        }
        return found.map(\.cookie)
    }

    /// The cookies that a request to a target would be sent with, in their order. Does not change the jar.
    public func sent(to target: CookieTarget) -> [Cookie] {
        CookieField.sent(cookies(for: target, isUse: false))
    }

    /// All cookies that have not expired, the oldest first.
    public func all(at now: Int64 = CookieJar.now) -> [Cookie] {
        var found: [(cookie: Cookie, created: Int)] = []
        found.reserveCapacity(count)
        sites.forEach { if !$0.cookie.isExpired(at: now) { found.append(($0.cookie, $0.created)) } }
        return found.sorted { $0.created < $1.created }.map(\.cookie)
    }
}
