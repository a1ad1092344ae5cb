internal import CTLS

/// Lists of revoked certificates (RFC 5280, section 5), parsed once. Equal if their bytes are.
///
/// `@unchecked Sendable` because nothing changes them once they are made.
public final class CertificateRevocationLists: Hashable, @unchecked Sendable {
    /// The SHA-256 of the bytes, in hexadecimal digits.
    public let digest: String
    /// The number of lists.
    public var count: Int { lists.count }
    /// The number of bytes that they were parsed from.
    public let contentBytes: Int
    let lists: [OpaquePointer]
    /// Those that are about all certificates of their authority.
    private var wholeLists: Set<OpaquePointer> = []
    /// About how long the hash of all takes, in tenths of a millisecond.
    let hashCost: Int
    /// The same, as OpenSSL's type.
    let stack: OpaquePointer?

    /// Parses lists: a PEM text, or DER, one after the other; at most 1 MiB and 64 lists. Slow: for a thread of a
    /// ``Worker``.
    public convenience init(_ bytes: [UInt8]) throws(TrustMaterialError) {
        try self.init(bytes, digest: SHA256Digest.text(of: bytes))
    }

    /// Parses lists, unless they are parsed already. Slow: for a thread of a ``Worker``.
    /// - Parameter known: the lists with a digest, if they exist.
    public static func make(
        _ bytes: [UInt8], known: (String) -> CertificateRevocationLists?
    ) throws(TrustMaterialError) -> CertificateRevocationLists {
        let digest = SHA256Digest.text(of: bytes)
        if let known = known(digest) { return known }
        return try CertificateRevocationLists(bytes, digest: digest)
    }

    private init(_ bytes: [UInt8], digest: String) throws(TrustMaterialError) {
        let reader = TrustMaterialReader(
            fromPEM: { PEM_read_bio_X509_CRL($0, nil, CTLS_no_password, nil) },
            fromDER: { d2i_X509_CRL(nil, $0, $1) }, free: { X509_CRL_free($0) },
            limit: TrustMaterialReader.maximumLists)
        lists = try reader.read(bytes)
        for (index, list) in lists.enumerated() {
            var isWhole: Int32 = 0
            guard CTLS_is_usable_list(list, &isWhole) == 1 else {
                for list in lists { X509_CRL_free(list) }
                throw .unsupportedList(number: index + 1)
            }
            if isWhole == 1 { wholeLists.insert(list) }
        }
        self.digest = digest
        contentBytes = bytes.count
        hashCost = bytes.count / 25_000
        stack = OPENSSL_sk_new_null()
        for (index, list) in lists.enumerated() {
            // Without memory for it, the list would revoke nothing.
            guard OPENSSL_sk_push(stack, UnsafeRawPointer(list)) > 0 else { throw .unreadable(number: index + 1) }
            // A list is sorted by number when it is first searched: here, not in a handshake.
            var entry: OpaquePointer?
            if let zero = ASN1_INTEGER_new() {
                X509_CRL_get0_by_serial(list, &entry, zero)
                ASN1_INTEGER_free(zero)
            }
        }
    }

    /// The lists of a certificate's issuer, by its name.
    func lists(about certificate: OpaquePointer) -> [OpaquePointer] {
        lists.filter { X509_NAME_cmp(X509_CRL_get_issuer($0), X509_get_issuer_name(certificate)) == 0 }
    }

    /// Whether a list is about all certificates of its authority.
    func isWhole(_ list: OpaquePointer) -> Bool { wholeLists.contains(list) }

    deinit {
        OPENSSL_sk_free(stack)
        for list in lists { X509_CRL_free(list) }
    }

    /// Whether the bytes are equal.
    public static func == (a: CertificateRevocationLists, b: CertificateRevocationLists) -> Bool {
        a.digest == b.digest
    }

    /// The digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
