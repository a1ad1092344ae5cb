internal import CTLS

/// The certificates and keys that were found while a client certificate is read.
struct CertificateMaterial {
    typealias Failure = ClientCertificate.Failure

    let password: [UInt8]?
    private(set) var certificates: [OwnedCertificate] = []
    private(set) var keys: [OwnedKey] = []
    /// The kinds of what was found and is of no use, for messages.
    private(set) var others: [String] = []
    /// Whether the certificates may be in any order, as in PKCS#12.
    var isUnordered = false
    /// What may still be spent on deriving keys from passwords.
    var cost = KeyDerivationCost()

    /// The most keys that are tried.
    static let maximumKeys = 8
    /// The most other things that a file may have.
    static let maximumOthers = 64

    init(password: [UInt8]?) { self.password = password }

    /// Takes a certificate over.
    mutating func add(certificate: OpaquePointer) throws(Failure) {
        let certificate = OwnedCertificate(certificate)
        // Reads the extensions now and not on the loop.
        X509_check_purpose(certificate.raw, -1, 0)
        guard certificates.count <= ClientCertificate.maximumChain else {
            throw .unreadable(
                expected: "a certificate and a chain of at most \(ClientCertificate.maximumChain)", found: "more")
        }
        certificates.append(certificate)
    }

    /// Takes a key over.
    mutating func add(key: OpaquePointer) throws(Failure) {
        let key = OwnedKey(key)
        if let failure = SigningKey.refusal(of: key) { throw failure }
        guard keys.count < CertificateMaterial.maximumKeys else {
            throw .unreadable(expected: "a private key", found: "more than \(CertificateMaterial.maximumKeys)")
        }
        keys.append(key)
    }

    /// Notes what is of no use.
    mutating func add(other kind: String) throws(Failure) {
        guard others.count < CertificateMaterial.maximumOthers else {
            throw .unreadable(expected: "certificates and a key", found: "more than \(others.count) other objects")
        }
        others.append(kind)
    }

    /// The first key that belongs to a certificate, with the others as the chain.
    func clientCertificate() throws(Failure) -> ClientCertificate {
        guard !certificates.isEmpty else { throw .unreadable(expected: "a certificate", found: found) }
        guard !keys.isEmpty else { throw .unreadable(expected: "a private key", found: found) }
        for key in keys {
            guard let index = certificates.firstIndex(where: { SigningKey.matches(key, $0) }) else { continue }
            let leaf = certificates[index]
            let others = certificates.filter { X509_cmp($0.raw, leaf.raw) != 0 }
            let chain = isUnordered ? CertificateMaterial.chain(of: leaf, in: others) : others
            guard SigningKey.signs(key, for: leaf) else { throw .keyMismatch }
            return try ClientCertificate(leaf, key, chain: chain)
        }
        throw .keyMismatch
    }

    /// The certificates in the order in which TLS sends them: each certifies the one before; then those that do not
    /// belong to this order.
    private static func chain(of leaf: OwnedCertificate, in others: [OwnedCertificate]) -> [OwnedCertificate] {
        var (chain, left, last) = ([OwnedCertificate](), others, leaf)
        while let index = left.firstIndex(where: { isIssuer($0, of: last) }) {
            last = left.remove(at: index)
            chain.append(last)
        }
        return chain + left
    }

    private static func isIssuer(_ issuer: OwnedCertificate, of certificate: OwnedCertificate) -> Bool {
        X509_check_issued(issuer.raw, certificate.raw) == X509_V_OK
    }

    private var found: String {
        var words: [String] = []
        if !certificates.isEmpty { words.append(certificates.count == 1 ? "a certificate" : "certificates") }
        if !keys.isEmpty { words.append("a private key") }
        words += others.prefix(3)
        return words.isEmpty ? "none" : words.joined(separator: ", ") + " alone"
    }
}
