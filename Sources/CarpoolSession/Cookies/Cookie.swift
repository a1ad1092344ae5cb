public import CarpoolHTTP
internal import Glibc

/// An HTTP cookie (RFC 6265bis, section 5.6). An immutable object, because jars and lists copy it often.
public final class Cookie: Equatable, Sendable {
    /// Which requests of other sites a browser sends it with. Stored and exported; every request here is one that its
    /// user has made, so that it restricts nothing.
    public enum SameSite: String, Sendable, CaseIterable {
        case strict = "Strict"
        case lax = "Lax"
        case none = "None"
    }

    /// The name; empty for a cookie that is only a value.
    public let name: String
    /// The value.
    public let value: String
    /// The host, or the domain of all hosts, in lower case and without a dot before it.
    public let domain: String
    /// Whether it is for the host ``domain`` alone, and not for those below it.
    public let isHostOnly: Bool
    /// The path of the URLs that it is for, and of those below it.
    public let path: String
    /// The end of its life in seconds since 1970; `nil` for the end of the session.
    public let expires: Int64?
    /// Whether it is sent over secure connections only.
    public let isSecure: Bool
    /// Whether scripts of a page must not read it.
    public let isHTTPOnly: Bool
    /// Its attribute `SameSite`.
    public let sameSite: SameSite?
    /// The only origin that it is sent to, ports included; `nil` for the rules of cookies, which ignore the port.
    let origin: Origin?

    /// Makes a cookie from its parts.
    public init(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/",
        expires: Int64? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite? = nil,
        origin: Origin? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.origin = origin
    }

    /// Whether the content is the same.
    public static func == (a: Cookie, b: Cookie) -> Bool {
        a === b
            || a.hasIdentity(of: b) && a.value.utf8.elementsEqual(b.value.utf8) && a.expires == b.expires
                && a.isSecure == b.isSecure
                && a.isHTTPOnly == b.isHTTPOnly && a.sameSite == b.sameSite && a.origin == b.origin
    }

    /// The most bytes of name and value together (RFC 6265bis, section 5.6).
    public static let maximumBytes = 4_096

    /// The memory of the cookie in a jar, in bytes.
    var memoryBytes: Int {
        name.utf8.count &+ value.utf8.count &+ domain.utf8.count &+ path.utf8.count &+ Cookie.baseBytes
    }

    /// Measured: an object, its strings and its place in a list.
    private static let baseBytes = 512

    /// The most bytes of a path; one that is longer is not stored.
    static let maximumPathBytes = 1_024
    /// The most bytes of a domain (RFC 1035, section 2.3.4).
    static let maximumDomainBytes = 255

    /// Whether its life is over.
    public func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether a later cookie replaces this one (RFC 6265bis, section 5.7, step 23).
    func hasIdentity(of other: Cookie) -> Bool {
        // Bytes: to Swift, two texts are equal that only look the same.
        isHostOnly == other.isHostOnly && name.utf8.elementsEqual(other.name.utf8)
            && domain.utf8.elementsEqual(other.domain.utf8) && path.utf8.elementsEqual(other.path.utf8)
    }
}

extension Cookie {
    /// Whether a host is that of a domain or below it (RFC 6265bis, section 5.1.3).
    static func matches(host: String, domain: String) -> Bool {
        guard host != domain else { return true }
        guard host.utf8.count > domain.utf8.count, host.hasSuffix(domain), !isAddress(host) else { return false }
        return host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// Whether a path is that of a cookie or below it (RFC 6265bis, section 5.1.4).
    static func matches(path: Substring, cookiePath: String) -> Bool {
        let (bytes, beginning) = (path.utf8, cookiePath.utf8)
        guard bytes.count >= beginning.count else { return false }
        // memcmp: a jar has up to 3,000 paths of a kilobyte.
        let isEqual = bytes.withContiguousStorageIfAvailable { whole in
            beginning.withContiguousStorageIfAvailable { part in
                guard let first = whole.baseAddress, let other = part.baseAddress else { return true }
                return memcmp(first, other, part.count) == 0
            }
        }
        guard (isEqual ?? nil) ?? bytes.starts(with: beginning) else { return false }
        let rest = bytes.dropFirst(beginning.count)
        return rest.isEmpty || beginning.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }

    /// The path of a cookie without the attribute `Path` (RFC 6265bis, section 5.1.4).
    static func defaultPath(of path: Substring) -> String {
        guard path.utf8.first == UInt8(ascii: "/"), let last = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            last > path.utf8.startIndex
        else { return "/" }
        return String(path[..<last])
    }

    /// Whether a host is an address and not a name.
    static func isAddress(_ host: String) -> Bool {
        guard host.utf8.first != UInt8(ascii: "[") else { return true }
        // The last part of a name is no number.
        guard let last = host.utf8.last, (0x30...0x39).contains(last) else { return false }
        let parts = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
    }
}
