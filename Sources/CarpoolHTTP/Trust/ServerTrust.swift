/// How a server's certificate is verified.
public struct ServerTrust: Hashable, Sendable {
    /// The certificate authorities that are trusted.
    public enum Authorities: Hashable, Sendable {
        /// The system's store.
        case system
        /// Those of a caller, and no others. A file whose content has changed is a different value.
        case only(TrustedAuthorities)
    }

    /// The certificate authorities that are trusted.
    public var authorities: Authorities
    /// Whether certificates are verified; `false` only on explicit request.
    public var isVerified: Bool

    /// Makes a standard check against these authorities.
    public init(_ authorities: Authorities = .system, isVerified: Bool = true) {
        self.authorities = authorities
        self.isVerified = isVerified
    }

    /// The system's authorities.
    public static let system = ServerTrust()
    /// No verification. Only on explicit request.
    public static let none = ServerTrust(isVerified: false)
    /// The authorities of a caller, and no others.
    public static func authorities(_ authorities: TrustedAuthorities) -> ServerTrust {
        ServerTrust(.only(authorities))
    }
}

extension ServerTrust: CustomStringConvertible {
    /// `system`, `none`, or the file of the authorities.
    public var description: String {
        guard isVerified else { return "none" }
        switch authorities {
        case .system: return "system"
        case .only(let authorities): return authorities.path
        }
    }
}
