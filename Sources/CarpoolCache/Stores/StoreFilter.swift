/// Which stored responses are listed or purged.
public struct StoreFilter: Sendable {
    /// The URL; all of its variants.
    public var url: String?
    /// How URLs begin.
    public var prefix: String?
    /// The origin of URLs, such as `https://example.com`.
    public var origin: String?
    /// The least age since the response was stored or validated, in milliseconds.
    public var olderThanMilliseconds: Int64?

    /// All responses.
    public init() {}

    /// Whether a stored response is meant.
    func matches(_ url: String, stored: CacheTime, now: CacheTime) -> Bool {
        guard matches(url) else { return false }
        if let age = olderThanMilliseconds, now.milliseconds(since: stored) < age { return false }
        return true
    }

    /// Whether responses of a URL are meant, whatever their age.
    func matches(_ url: String) -> Bool {
        if let wanted = self.url, !url.utf8.elementsEqual(wanted.utf8) { return false }
        if let prefix, !url.utf8.starts(with: prefix.utf8) { return false }
        if let origin, !StoreFilter.isURL(url, of: origin) { return false }
        return true
    }

    private static func isURL(_ url: String, of origin: String) -> Bool {
        guard url.utf8.starts(with: origin.utf8) else { return false }
        let rest = url.utf8.dropFirst(origin.utf8.count).first
        return rest == nil || rest == UInt8(ascii: "/") || rest == UInt8(ascii: "?")
    }
}
