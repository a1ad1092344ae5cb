/// How a server's certificate is evaluated, in place of the standard check.
///
/// Whatever the evaluator, a server may not choose keys or chains that take long to verify.
public indirect enum ServerTrustEvaluator: Hashable, Sendable {
    /// The chain must lead to an authority and, if asked for, the certificate must name the host.
    case standard(validatesHost: Bool)
    /// Nothing in the chain may be revoked.
    case revocation(RevocationCheck)
    /// One of these certificates must be in the chain.
    case pinnedCertificates(CertificatePins)
    /// One of these public keys must be in the chain.
    case publicKeys(PublicKeyPins)
    /// All of these must pass; the failure is that of the first that does not.
    case composite([ServerTrustEvaluator])
    /// Every server is trusted.
    case disabled
    /// Every server is refused: no evaluator was given for the host.
    case missing
    /// The caller decides.
    case custom(CustomTrust)

    /// The most evaluators in a composite one, and in those that are part of it.
    public static let maximumCount = 8

    /// The number of evaluators, not counting composite ones.
    public var count: Int {
        if case .composite(let parts) = self { parts.reduce(0) { $0 + $1.count } } else { 1 }
    }

    static let customName = "callback"

    /// The name of the kind, as clients see it; `nil` for ``missing``.
    public var name: String? {
        switch self {
        case .standard: "default"
        case .revocation: "revocation"
        case .pinnedCertificates: "pinned_certificates"
        case .publicKeys: "public_keys"
        case .composite: "composite"
        case .disabled: "disabled"
        case .custom: ServerTrustEvaluator.customName
        case .missing: nil
        }
    }

    /// Whether any server passes.
    var acceptsAnyServer: Bool {
        switch self {
        case .disabled: true
        case .revocation(let check): check.acceptsAnyServer
        case .composite(let parts): parts.allSatisfy { $0.acceptsAnyServer }
        case .standard, .pinnedCertificates, .publicKeys, .missing, .custom: false
        }
    }

    /// Whether the authorities decide about a server.
    public var usesAuthorities: Bool {
        switch self {
        case .standard: true
        case .revocation(let check): check.performsDefaultValidation
        case .pinnedCertificates(let pins): pins.performsDefaultValidation && !pins.acceptsSelfSigned
        case .publicKeys(let pins): pins.performsDefaultValidation
        case .composite(let parts): parts.contains { $0.usesAuthorities }
        case .disabled, .missing, .custom: false
        }
    }

    /// The names of the evaluators of a composite one, also of those in another; empty for others.
    public var partNames: [String] {
        guard case .composite(let parts) = self else { return [] }
        return parts.flatMap { part in
            if case .composite = part { part.partNames } else { [part.name ?? "missing"] }
        }
    }

    /// Whether the server is asked for the answer of an OCSP responder.
    var usesStaple: Bool {
        switch self {
        case .revocation(let check): check.staple != .ignore
        case .composite(let parts): parts.contains { $0.usesStaple }
        default: false
        }
    }
}
