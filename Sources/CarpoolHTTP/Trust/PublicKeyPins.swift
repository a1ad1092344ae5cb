/// Public keys one of which must be in the server's chain.
///
/// An object, because every copy of a request has a reference to it. Equal if keys and settings are.
public final class PublicKeyPins: Hashable, Sendable {
    /// The hashes of the pinned keys.
    public let keys: Set<PublicKeyPin>
    /// Whether the chain is verified before it is compared.
    public let performsDefaultValidation: Bool
    /// Whether the certificate must name the host.
    public let validatesHost: Bool
    /// Whether only the key of the server's own certificate counts.
    public let excludesAuthorities: Bool

    /// Makes pins of hashes.
    public init(
        _ keys: [PublicKeyPin], performsDefaultValidation: Bool = true, validatesHost: Bool = true,
        excludesAuthorities: Bool = false
    ) {
        self.keys = Set(keys)
        self.excludesAuthorities = excludesAuthorities
        self.performsDefaultValidation = performsDefaultValidation
        self.validatesHost = validatesHost
    }

    /// Whether the key of one of these certificates is pinned.
    func match(_ chain: [X509Certificate]) -> Bool {
        chain.prefix(excludesAuthorities ? 1 : chain.count).contains { keys.contains($0.publicKey) }
    }

    /// Whether keys and settings are equal.
    public static func == (a: PublicKeyPins, b: PublicKeyPins) -> Bool {
        a.keys == b.keys && a.performsDefaultValidation == b.performsDefaultValidation
            && a.validatesHost == b.validatesHost && a.excludesAuthorities == b.excludesAuthorities
    }

    /// The keys.
    public func hash(into hasher: inout Hasher) { hasher.combine(keys) }
}
