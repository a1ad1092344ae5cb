internal import CTLS

/// Stores of certificates that are parsed already.
extension TrustStore {
    /// Makes a store of certificates; `nil` if memory is out. Sorts them: for a thread of a ``Worker``.
    convenience init?(_ certificates: [X509Certificate]) {
        // An authority whose key costs too much is trusted with nothing.
        let usable: [OpaquePointer?] = certificates.filter(\.isCheap).map(\.raw)
        guard let raw = CTLS_store_of(usable, usable.count) else { return nil }
        let digest = SHA256Digest.text(of: Array(certificates.map(\.digest).joined(separator: " ").utf8))
        self.init(owning: raw, digest: digest, count: usable.count)
    }

    /// Makes a store of the certificates of two others, which it shares with them; `nil` if memory is out. Sorts them:
    /// for a thread of a ``Worker``.
    convenience init?(_ first: TrustStore, and second: TrustStore) {
        let shared = first.certificates + second.certificates
        guard let raw = CTLS_store_of(shared, shared.count) else { return nil }
        let digest = SHA256Digest.text(of: Array("\(first.digest) \(second.digest)".utf8))
        self.init(owning: raw, digest: digest, count: first.count + second.count)
    }

    /// OpenSSL's certificates, which belong to the store.
    private var certificates: [OpaquePointer?] {
        let objects = X509_STORE_get0_objects(raw)
        return (0..<max(0, OPENSSL_sk_num(objects))).compactMap {
            X509_OBJECT_get0_X509(OPENSSL_sk_value(objects, $0).map { OpaquePointer($0) })
        }
    }

    /// The authority that has issued a certificate, by its name and key number; its signature is not verified.
    func issuer(of certificate: X509Certificate) -> X509Certificate? {
        guard let search = X509_STORE_CTX_new() else { return nil }
        defer {
            X509_STORE_CTX_free(search)
            ERR_clear_error()
        }
        var issuer: OpaquePointer?
        guard X509_STORE_CTX_init(search, raw, certificate.raw, nil) == 1,
            X509_STORE_CTX_get1_issuer(&issuer, search, certificate.raw) == 1, let issuer
        else { return nil }
        return X509Certificate(owning: issuer)
    }
}
