internal import CarpoolHTTP
internal import CarpoolSystem

/// The resource that the bytes of a partial file are of. A validator tells the versions of one resource apart, and may
/// be that of another resource too (RFC 9110, section 8.8.3): a redirect that leads elsewhere than before must not
/// continue a file.
struct EntitySource: Equatable, Sendable {
    /// A hash of the URL that has sent them; URLs hold secrets.
    let hash: String
    /// Whether a redirect has led to it.
    let isRedirected: Bool
    /// Whether it is that of the requested URL, which the token has.
    let isImplied: Bool

    /// Entity tags of so many bytes are hashes or identifiers of one content. The query of a URL then does not count:
    /// redirects to stores of files have a new signature there each time.
    private static let uniqueTagBytes = 18

    init(hash: String, isRedirected: Bool, isImplied: Bool = false) {
        (self.hash, self.isRedirected, self.isImplied) = (hash, isRedirected, isImplied)
    }

    /// The resource of a response.
    init(_ url: HTTPURL, isRedirected: Bool, isImplied: Bool = false, _ validator: EntityValidator) {
        var text = url.withoutFragment
        if case .entityTag(let tag) = validator, tag.utf8.count >= EntitySource.uniqueTagBytes {
            text = String(text.prefix { $0 != "?" })
        }
        self.init(
            hash: HexadecimalText.text(SHA256Hash.of(Array(text.utf8)).prefix(8)), isRedirected: isRedirected,
            isImplied: isImplied)
    }

    /// Whether both may be the same resource. That it has several URLs is up to the caller who requests one after the
    /// other, but not to a server.
    func isSame(as other: EntitySource) -> Bool { hash == other.hash || !isRedirected && !other.isRedirected }
}
