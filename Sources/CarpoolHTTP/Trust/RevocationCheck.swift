/// How the evaluator checks whether certificates were revoked. Nothing is fetched from the network: the sources are the
/// caller's lists, and the answer that a server may staple to its certificate (RFC 6066, section 8).
public struct RevocationCheck: Hashable, Sendable {
    /// What happens with the answer of an OCSP responder (RFC 6960) that the server sends with its certificate.
    public enum Staple: String, Hashable, Sendable, CaseIterable {
        /// The server is not asked for one.
        case ignore
        /// A server may send none; one that it sends must be valid and say that the certificate is good.
        case check
        /// The server must send one.
        case require
    }

    /// Lists of revoked certificates.
    public var lists: CertificateRevocationLists?
    /// How the server's answer is checked.
    public var staple: Staple
    /// Whether a certificate for which no source has an answer is refused. Without lists this is about the server's own
    /// certificate alone.
    public var requiresPositiveResponse: Bool
    /// Whether the chain is verified. If not, lists are checked for the certificates that the server has sent.
    public var performsDefaultValidation: Bool
    /// Whether the certificate must name the host.
    public var validatesHost: Bool

    /// Whether any server passes: a server may send no staple, and there are no lists.
    var acceptsAnyServer: Bool {
        !performsDefaultValidation && !validatesHost && lists == nil && staple != .require
            && !requiresPositiveResponse
    }

    /// Makes a check.
    public init(
        lists: CertificateRevocationLists? = nil, staple: Staple = .check, requiresPositiveResponse: Bool = false,
        performsDefaultValidation: Bool = true, validatesHost: Bool = true
    ) {
        self.lists = lists
        self.staple = staple
        self.requiresPositiveResponse = requiresPositiveResponse
        self.performsDefaultValidation = performsDefaultValidation
        self.validatesHost = validatesHost
    }
}
