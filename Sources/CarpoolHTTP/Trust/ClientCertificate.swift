internal import CTLS

/// A client certificate with its private key and its chain, read and parsed once and used by every connection that
/// presents it. Equal if certificate, key and chain are.
///
/// A thread of a ``Worker`` makes it (``read(_:key:format:password:)``); a connection only gets references to the
/// parsed objects, so that no key is parsed or decrypted on the loop, and none touches the disk.
///
/// Whether the certificate is valid today is not checked when it is read, as a session may live longer than its
/// certificate: each request that uses it checks ``refusal(at:)`` first.
///
/// `@unchecked Sendable` because nothing changes it once it is made; OpenSSL counts its references atomically, and
/// fills what it caches in them under a lock.
public final class ClientCertificate: Hashable, @unchecked Sendable {
    /// What may be shown of a certificate.
    public struct Summary: Hashable, Sendable {
        /// The distinguished name of the subject (RFC 2253).
        public let subject: String
        /// The distinguished name of the issuer (RFC 2253).
        public let issuer: String
        /// The serial number in hexadecimal digits.
        public let serialNumber: String
        /// The first second in which it is valid, in seconds since 1970.
        public let notBefore: Int64
        /// The last second in which it is valid, in seconds since 1970.
        public let notAfter: Int64
        /// ``notBefore`` as RFC 3339 writes it, in UTC.
        public var notBeforeText: String { CertificateTime.text(notBefore) }
        /// ``notAfter`` as RFC 3339 writes it, in UTC.
        public var notAfterText: String { CertificateTime.text(notAfter) }
        /// The SHA-256 of the certificate in hexadecimal digits.
        public let fingerprint: String
    }

    /// What may be shown.
    public let summary: Summary
    /// The number of bytes of the certificates.
    public var contentBytes: Int { ([leaf] + chain).reduce(0) { $0 + Int(max(0, i2d_X509($1.raw, nil))) } }
    /// The number of certificates that are sent beside the first.
    public var chainCount: Int { chain.count }

    private let leaf: OwnedCertificate
    private let key: OwnedKey
    private let chain: [OwnedCertificate]
    /// The SHA-256 of certificate, key and chain. Never shown.
    private let digest: [UInt8]

    init(_ leaf: OwnedCertificate, _ key: OwnedKey, chain: [OwnedCertificate]) throws(Failure) {
        guard let summary = Summary(leaf), let digest = ClientCertificate.digest(leaf, key, chain) else {
            throw .unreadable(expected: "a certificate", found: "one with fields that cannot be read")
        }
        self.summary = summary
        self.digest = digest
        self.leaf = leaf
        self.key = key
        self.chain = chain
    }

    /// Why the certificate must not be used at this time, in seconds since 1970; `nil` if it is valid.
    public func refusal(at time: Int64) -> Failure? {
        if time > summary.notAfter { return .expired(summary.notAfter) }
        return time < summary.notBefore ? .notYetValid(summary.notBefore) : nil
    }

    /// Has connections of a TLS context present the certificate.
    func use(in context: UnsafeMutableRawPointer) throws(Failure) {
        let context = OpaquePointer(context)
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard SSL_CTX_use_certificate(context, leaf.raw) == 1, SSL_CTX_use_PrivateKey(context, key.raw) == 1 else {
            throw .refusedByTLS(number: 1)
        }
        for (index, certificate) in chain.enumerated() {
            // SSL_CTX_add1_chain_cert, which is a macro.
            let pointer = UnsafeMutableRawPointer(certificate.raw)
            guard SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, pointer) == 1 else {
                throw .refusedByTLS(number: index + 2)
            }
        }
    }

    /// Whether certificate, key and chain are the same.
    public static func == (a: ClientCertificate, b: ClientCertificate) -> Bool { a === b || a.digest == b.digest }

    /// The digest of certificate, key and chain.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    private static func digest(
        _ leaf: OwnedCertificate, _ key: OwnedKey, _ chain: [OwnedCertificate]
    ) -> [UInt8]? {
        guard let hash = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(hash) }
        guard EVP_DigestInit_ex(hash, EVP_sha256(), nil) == 1 else { return nil }
        for certificate in [leaf] + chain {
            // Each is DER, which has its length at its beginning.
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = i2d_X509(certificate.raw, &bytes)
            guard count > 0 else { return nil }
            EVP_DigestUpdate(hash, bytes, Int(count))
            CRYPTO_free(bytes, #file, #line)
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PrivateKey(key.raw, &bytes)
        guard count > 0 else { return nil }
        EVP_DigestUpdate(hash, bytes, Int(count))
        CRYPTO_clear_free(bytes, Int(count), #file, #line)
        var digest = [UInt8](repeating: 0, count: 32)
        return EVP_DigestFinal_ex(hash, &digest, nil) == 1 ? digest : nil
    }
}

extension ClientCertificate: CustomStringConvertible, CustomReflectable {
    /// The subject. Nothing shows the key.
    public var description: String { "client certificate \(summary.subject)" }
    /// The summary alone.
    public var customMirror: Mirror { Mirror(self, children: ["summary": summary]) }
}

extension ClientCertificate.Summary {
    /// The longest name or number that is shown.
    private static let maximumTextBytes = 1_024

    /// Reads it from a certificate; `nil` if a field cannot be read.
    init?(_ certificate: OwnedCertificate) {
        typealias Summary = ClientCertificate.Summary
        let raw = certificate.raw
        guard let notBefore = Summary.seconds(X509_get0_notBefore(raw)),
            let notAfter = Summary.seconds(X509_get0_notAfter(raw)),
            let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(raw), nil)
        else { return nil }
        defer { BN_free(number) }
        guard let digits = BN_bn2hex(number) else { return nil }
        defer { CRYPTO_free(digits, #file, #line) }
        var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard X509_digest(raw, EVP_sha256(), &hash, &length) == 1 else { return nil }
        subject = Summary.text(X509_get_subject_name(raw))
        issuer = Summary.text(X509_get_issuer_name(raw))
        serialNumber = String(String(cString: digits).prefix(Summary.maximumTextBytes))
        self.notBefore = notBefore
        self.notAfter = notAfter
        fingerprint = HexadecimalText.text(hash[..<Int(length)])
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        // Through the difference to 1970, which OpenSSL computes: no date of a certificate exceeds it.
        guard let time, let start = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_STRING_free(start) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, start, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    private static func text(_ name: OpaquePointer?) -> String {
        guard let name, let output = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(output) }
        X509_NAME_print_ex(output, name, 0, CTLS_NAME_FLAGS)
        var bytes = [UInt8](repeating: 0, count: maximumTextBytes)
        let count = BIO_read(output, &bytes, Int32(bytes.count))
        return String(decoding: bytes[..<max(0, Int(count))], as: UTF8.self)
    }
}
