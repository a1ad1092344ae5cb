internal import CPublicSuffix
internal import Synchronization

/// The Public Suffix List: the domains below which anyone can have a host, such as `com`, `co.uk` and `github.io`.
public enum PublicSuffixes {
    /// The list, which is never changed and never freed.
    private struct List: @unchecked Sendable {
        let list: OpaquePointer?
    }

    /// The system's list, if it is newer than the one in libpsl: reading it takes less than a millisecond, once.
    private static let list = List(list: psl_latest(nil) ?? psl_builtin())

    /// Whether a domain, in lower case, is a public suffix. Without a list, those with one label are.
    public static func contains(_ domain: String) -> Bool {
        guard let list = list.list else { return !domain.utf8.contains(UInt8(ascii: ".")) }
        return psl_is_public_suffix(list, domain) == 1
    }

    /// The shortest domain above a host that is not a public suffix, such as `example.co.uk`; the host itself if there
    /// is none.
    static func registrableDomain(of host: String) -> String {
        guard !Cookie.isAddress(host), let list = list.list else { return host }
        // The result points into the text that was passed, so it is copied before that ends.
        return host.withCString { text in psl_registrable_domain(list, text).map { String(cString: $0) } } ?? host
    }
}
