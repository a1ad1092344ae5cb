/// Certificates one of which must be in the server's chain.
///
/// An object, because every copy of a request has a reference to it. Equal if certificates and settings are.
public final class CertificatePins: Hashable, Sendable {
    /// The pinned certificates.
    public let certificates: [X509Certificate]
    /// Whether the pinned certificates are the only authorities, so that the server may have signed its own.
    public let acceptsSelfSigned: Bool
    /// Whether the chain is verified before it is compared.
    public let performsDefaultValidation: Bool
    /// Whether the certificate must name the host.
    public let validatesHost: Bool
    /// The number of bytes of the certificates.
    public var contentBytes: Int { certificates.reduce(0) { $0 + $1.der.count } }
    /// The pinned certificates as authorities, if they are the only ones.
    let anchors: TrustStore?
    private let digests: Set<String>

    /// The most certificates of an evaluator.
    public static let maximumCount = TrustMaterialReader.maximumCertificates

    /// Makes pins. Sorts the certificates: for a thread of a ``Worker``.
    public init(
        _ certificates: [X509Certificate], acceptsSelfSigned: Bool = false, performsDefaultValidation: Bool = true,
        validatesHost: Bool = true
    ) {
        self.certificates = certificates
        self.acceptsSelfSigned = acceptsSelfSigned
        self.performsDefaultValidation = performsDefaultValidation
        self.validatesHost = validatesHost
        digests = Set(certificates.map(\.digest))
        anchors = acceptsSelfSigned ? TrustStore(certificates) : nil
    }

    /// Whether one of these certificates is pinned.
    func match(_ chain: [X509Certificate]) -> Bool { chain.contains { digests.contains($0.digest) } }

    /// Whether certificates and settings are equal.
    public static func == (a: CertificatePins, b: CertificatePins) -> Bool {
        a.digests == b.digests && a.acceptsSelfSigned == b.acceptsSelfSigned
            && a.performsDefaultValidation == b.performsDefaultValidation && a.validatesHost == b.validatesHost
    }

    /// The certificates' digests.
    public func hash(into hasher: inout Hasher) { hasher.combine(digests) }
}
