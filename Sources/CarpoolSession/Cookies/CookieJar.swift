public import CarpoolHTTP
internal import CarpoolSystem

/// An account of the memory that a jar uses.
public protocol CookieMemory: AnyObject {
    /// Counts so many bytes for the jar, in place of what was counted before. Returns `false` if there is no room.
    func count(_ bytes: Int) -> Bool
}

/// The cookies of a session, or of one request (RFC 6265bis, section 5.7): what servers have set, and what is sent to
/// them.
///
/// The cookies are in lists by their domain, so that a request looks only at those of its host and of the domains above
/// it.
public final class CookieJar {
    /// Limits of a jar.
    public enum Limits {
        /// The most cookies of one domain (RFC 6265bis, section 6.1, has at least 50; browsers have 180).
        public static let cookiesOfDomain = 180
        /// The most cookies.
        public static let cookies = 3_000
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
    }

    private var domains: [String: [Entry]] = [:]
    /// How many cookies for secure connections have a name.
    private var secureNames: [String: Int] = [:]
    /// How many cookies there are, expired ones included until they are found.
    public private(set) var count = 0
    /// Their memory in bytes.
    public private(set) var bytes = 0
    private var clock = 0
    private var memory: (any CookieMemory)?
    private var uncountedBytes = 0
    /// Called after each change.
    public var didChange: (() -> Void)?

    /// Makes a jar.
    /// - Parameters:
    ///   - cookies: the first cookies. Their memory is counted elsewhere if there is an account.
    ///   - memory: the account of what is added to them; `nil` for no limit.
    public init(_ cookies: [Cookie] = [], memory: (any CookieMemory)? = nil) {
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
    /// (RFC 6265bis, section 5.7, step 16).
    private func mayReplace(_ cookie: Cookie, from target: CookieTarget) -> Bool {
        guard !cookie.isSecure, !target.isSecure, secureNames[cookie.name] != nil else { return true }
        // Those of the domain, of domains above it and below it.
        return !domains.contains { domain, entries in
            (Cookie.matches(host: domain, domain: cookie.domain) || Cookie.matches(host: cookie.domain, domain: domain))
                && entries.contains {
                    $0.cookie.isSecure && $0.cookie.name == cookie.name
                        && Cookie.matches(path: cookie.path, cookiePath: $0.cookie.path)
                }
        }
    }

    // MARK: Changes

    /// Adds cookies in their order. Each replaces the one with the same name, domain and path; one that has expired
    /// only removes it. Then the limits are kept: the cookies go that were not used for the longest time.
    public func add(_ cookies: [Cookie]) { add(cookies, at: CookieJar.now) { _ in true } }

    private func add(_ cookies: [Cookie], at now: Int64, where isAllowed: (Cookie) -> Bool) {
        var touched: Set<String> = []
        for cookie in cookies where isAllowed(cookie) {
            clock &+= 1
            touched.insert(cookie.domain)
            put(cookie, at: now)
        }
        guard !touched.isEmpty else { return }
        for domain in touched { keepLimit(of: domain, at: now) }
        keepLimits(at: now)
        didChange?()
    }

    private func put(_ cookie: Cookie, at now: Int64) {
        var entries = domains.removeValue(forKey: cookie.domain) ?? []
        let place = entries.firstIndex { $0.cookie.hasIdentity(of: cookie) }
        if let place { release(entries[place].cookie) }
        if cookie.isExpired(at: now) {
            if let place { entries.remove(at: place) }
        } else {
            count &+= 1
            bytes &+= cookie.memoryBytes
            if cookie.isSecure { secureNames[cookie.name, default: 0] += 1 }
            let entry = Entry(cookie: cookie, created: place.map { entries[$0].created } ?? clock, used: clock)
            if let place { entries[place] = entry } else { entries.append(entry) }
        }
        if !entries.isEmpty { domains[cookie.domain] = entries }
    }

    private func release(_ cookie: Cookie) {
        count &-= 1
        bytes &-= cookie.memoryBytes
        guard cookie.isSecure, let left = secureNames[cookie.name].map({ $0 - 1 }) else { return }
        secureNames[cookie.name] = left > 0 ? left : nil
    }

    /// Removes the cookies that fulfil a condition. Returns how many.
    @discardableResult public func remove(where condition: (Cookie) -> Bool) -> Int {
        let before = count
        for (domain, entries) in domains {
            let kept = entries.filter { !condition($0.cookie) }
            guard kept.count < entries.count else { continue }
            for entry in entries where condition(entry.cookie) { release(entry.cookie) }
            domains[domain] = kept.isEmpty ? nil : kept
        }
        guard count < before else { return 0 }
        _ = memory?.count(countedBytes)
        didChange?()
        return before - count
    }

    private var countedBytes: Int { max(0, bytes &- uncountedBytes) }

    // MARK: Limits

    private func keepLimit(of domain: String, at now: Int64) {
        guard let entries = domains[domain], entries.count > Limits.cookiesOfDomain else { return }
        removeLeastUsed(of: entries, keeping: Limits.cookiesOfDomain, at: now)
    }

    private func keepLimits(at now: Int64) {
        if count > Limits.cookies {
            removeLeastUsed(of: domains.values.joined(), keeping: Limits.cookies, at: now)
        }
        // Without room for all of them, the half that was used last stays, and so on.
        while let memory, !memory.count(countedBytes), count > 0 {
            removeLeastUsed(of: domains.values.joined(), keeping: count / 2, at: now)
        }
    }

    /// Removes the expired cookies, then those that are not secure, then those that were not used for the longest time
    /// (RFC 6265bis, section 5.7), until so many are left.
    private func removeLeastUsed(of entries: some Sequence<Entry>, keeping limit: Int, at now: Int64) {
        func rank(_ entry: Entry) -> (Int, Int) {
            (entry.cookie.isExpired(at: now) ? 0 : entry.cookie.isSecure ? 2 : 1, entry.used)
        }
        let sorted = entries.sorted { rank($0) < rank($1) }
        for entry in sorted.dropLast(limit) { remove(entry.cookie) }
    }

    private func remove(_ cookie: Cookie) {
        guard var entries = domains.removeValue(forKey: cookie.domain) else { return }
        if let place = entries.firstIndex(where: { $0.cookie.hasIdentity(of: cookie) }) {
            release(cookie)
            entries.remove(at: place)
        }
        if !entries.isEmpty { domains[cookie.domain] = entries }
    }

    // MARK: Requests

    /// The cookies for a request in the order in which they are sent: longer paths first, then the older ones
    /// (RFC 6265bis, section 5.8.3).
    func cookies(for target: CookieTarget, at now: Int64 = CookieJar.now) -> [Cookie] {
        guard count > 0 else { return [] }
        clock &+= 1
        var found: [Entry] = []
        found.reserveCapacity(8)
        let host = target.host
        for domain in CookieJar.domains(of: host) {
            guard let list = domains.index(forKey: domain) else { continue }
            for place in domains.values[list].indices {
                let cookie = domains.values[list][place].cookie
                guard !cookie.isHostOnly || domain == host, !cookie.isExpired(at: now),
                    !cookie.isSecure || target.isSecure, cookie.origin.map({ $0 == target.origin }) ?? true,
                    Cookie.matches(path: target.path, cookiePath: cookie.path)
                else { continue }
                // In place: a copy of the list costs more than the rest.
                domains.values[list][place].used = clock
                found.append(domains.values[list][place])
            }
        }
        guard found.count > 1 else { return found.map(\.cookie) }
        found.sort { a, b in
            let (longer, shorter) = (a.cookie.path.utf8.count, b.cookie.path.utf8.count)
            return longer == shorter ? a.created < b.created : longer > shorter
        }
        return found.map(\.cookie)
    }

    /// The host and the domains above it.
    private static func domains(of host: String) -> [String] {
        guard !Cookie.isAddress(host) else { return [host] }
        var domains = [host]
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }

    /// The cookies that a request of a URL would be sent with, in their order.
    public func sent(to url: HTTPURL) -> [Cookie] { CookieField.sent(cookies(for: CookieTarget(url))) }

    /// All cookies that have not expired, by domain, path and name.
    public func all(at now: Int64 = CookieJar.now) -> [Cookie] {
        domains.values.joined().map(\.cookie).filter { !$0.isExpired(at: now) }.sorted {
            ($0.domain, $0.path, $0.name, $0.isHostOnly ? 0 : 1) < ($1.domain, $1.path, $1.name, $1.isHostOnly ? 0 : 1)
        }
    }
}
