internal import CTLS

/// A certificate, parsed once. Equal if its bytes are.
///
/// `@unchecked Sendable` because nothing changes it once it is made: what OpenSSL computes when it is first needed is
/// computed here.
public final class X509Certificate: Hashable, @unchecked Sendable {
    /// Its bytes (DER).
    public let der: [UInt8]
    /// The SHA-256 of its bytes, in hexadecimal digits.
    public let digest: String
    /// The hash of its public key.
    public let publicKey: PublicKeyPin
    let raw: OpaquePointer

    /// Takes over a reference to OpenSSL's object.
    init(owning raw: OpaquePointer) {
        self.raw = raw
        // Has OpenSSL read the extensions, which it would do when the certificate is first used.
        X509_check_purpose(raw, -1, 0)
        der = X509Certificate.encode { i2d_X509(raw, $0) }
        digest = SHA256Digest.text(of: der)
        publicKey = PublicKeyPin(X509_get_X509_PUBKEY(raw))
    }

    /// Adds a reference to OpenSSL's object.
    convenience init(sharing raw: OpaquePointer) {
        X509_up_ref(raw)
        self.init(owning: raw)
    }

    deinit { X509_free(raw) }

    /// Reads the certificates of a PEM text, or of certificates in DER one after the other. Slow: for a thread of a
    /// ``Worker``.
    public static func parse(_ bytes: [UInt8]) throws(TrustMaterialError) -> [X509Certificate] {
        let reader = TrustMaterialReader(
            fromPEM: { PEM_read_bio_X509($0, nil, CTLS_no_password, nil) }, fromDER: { d2i_X509(nil, $0, $1) },
            free: { X509_free($0) }, limit: TrustMaterialReader.maximumCertificates)
        return try reader.read(bytes).map { X509Certificate(owning: $0) }
    }

    /// Whether an operation with its key takes less than a few milliseconds.
    var isCheap: Bool { CTLS_is_cheap(raw) == 1 }

    /// About how long the verification of a signature of its key takes, in tenths of a millisecond, if it is cheap.
    var signatureCost: Int {
        // A key that OpenSSL cannot read verifies nothing.
        guard let key = X509_get0_pubkey(raw) else { return 1 }
        let bits = EVP_PKEY_get_bits(key)
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return bits <= 4_096 ? 1 : 5
        // NIST's P-256 takes a third of that, but others of its size do not.
        case EVP_PKEY_EC: return bits <= 256 ? 3 : bits <= 320 ? 6 : 11
        default: return 2
        }
    }

    /// Whether this certificate's key has signed the other one, which names it as its issuer.
    func hasIssued(_ other: X509Certificate) -> Bool {
        guard isCheap, X509_check_issued(raw, other.raw) == X509_V_OK, let key = X509_get0_pubkey(raw) else {
            return false
        }
        return X509_verify(other.raw, key) == 1
    }

    /// Whether the bytes are equal.
    public static func == (a: X509Certificate, b: X509Certificate) -> Bool { a.digest == b.digest }

    /// The digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// The bytes that a function of OpenSSL writes; it is called first without a place, for their number.
    static func encode(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let count = Int(write(nil))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var position = buffer.baseAddress
            written = max(0, min(count, Int(write(&position))))
        }
    }
}
