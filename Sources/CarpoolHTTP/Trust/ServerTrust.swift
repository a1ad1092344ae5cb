/// How a server's certificate is verified.
public struct ServerTrust: Hashable, Sendable {
    /// The certificate authorities that are trusted.
    public enum Authorities: Hashable, Sendable {
        /// The system's store.
        case system
        /// Those of a caller, and no others. A file whose content has changed is a different value.
        case only(TrustedAuthorities)
        /// The system's store, and those of a caller.
        case systemAnd(TrustedAuthorities)
    }

    /// The certificate authorities that are trusted.
    public var authorities: Authorities
    /// Whether certificates are verified; `false` only on explicit request.
    public var isVerified: Bool
    /// Evaluates certificates in place of the standard check, and whatever ``isVerified`` says; `nil` for the standard
    /// check.
    public var evaluator: ServerTrustEvaluator?

    /// Makes a check against these authorities; by default the standard one.
    public init(
        _ authorities: Authorities = .system, isVerified: Bool = true, evaluator: ServerTrustEvaluator? = nil
    ) {
        self.authorities = authorities
        self.isVerified = isVerified
        self.evaluator = evaluator
    }

    /// Whether any server is accepted.
    public var acceptsAnyServer: Bool { evaluator?.acceptsAnyServer ?? !isVerified }

    /// Whether the authorities decide about a server.
    public var usesAuthorities: Bool { evaluator?.usesAuthorities ?? isVerified }

    /// The same without certificates and lists, only to be shown.
    public var withoutMaterial: ServerTrust {
        var shown = self
        shown.evaluator = nil
        switch authorities {
        case .system: break
        case .only(let own): shown.authorities = .only(own.withoutContent)
        case .systemAnd(let own): shown.authorities = .systemAnd(own.withoutContent)
        }
        return shown
    }

    /// The standard check against the same authorities.
    var authoritiesAlone: ServerTrust { ServerTrust(authorities) }

    /// Whether the authorities are used.
    var needsAuthorities: Bool { isVerified || evaluator != nil }

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
        case .systemAnd(let authorities): return "system, \(authorities.path)"
        }
    }
}
