internal import CTLS

// Pins of the public keys in a file.
extension PublicKeyPin {
    /// Reads the keys of a PEM text, or of DER one after the other: public keys (`BEGIN PUBLIC KEY`, as curl's
    /// `--pinnedpubkey` reads them), and the keys of certificates. Slow: for a thread of a ``Worker``.
    public static func parse(_ bytes: [UInt8]) throws(TrustMaterialError) -> [PublicKeyPin] {
        let reader = TrustMaterialReader(
            fromPEM: nextKey(ofPEM:), fromDER: nextKey, free: { X509_PUBKEY_free($0) },
            limit: TrustMaterialReader.maximumCertificates, mayBeShort: true)
        return try reader.read(bytes).map { key in
            defer { X509_PUBKEY_free(key) }
            return PublicKeyPin(key)
        }
    }

    /// The pin of a key of OpenSSL's.
    init(_ key: OpaquePointer?) {
        self.init(hash: SHA256Digest.bytes(of: X509Certificate.encode { i2d_X509_PUBKEY(key, $0) }))
    }

    /// Reads the next block of a public key or a certificate; others are skipped.
    private static func nextKey(ofPEM input: OpaquePointer?) -> OpaquePointer? {
        var (name, header, data) = (UnsafeMutablePointer<CChar>?.none, UnsafeMutablePointer<CChar>?.none, Bytes.none)
        var length = 0
        while PEM_read_bio(input, &name, &header, &data, &length) == 1 {
            defer {
                CRYPTO_free(name, nil, 0)
                CRYPTO_free(header, nil, 0)
                CRYPTO_free(data, nil, 0)
            }
            guard let name, let data, names.contains(String(cString: name)) else { continue }
            var position: UnsafePointer<UInt8>? = UnsafePointer(data)
            return nextKey(&position, length)
        }
        return nil
    }

    private typealias Bytes = UnsafeMutablePointer<UInt8>?
    private static let names = ["PUBLIC KEY", "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]

    private static func nextKey(
        _ position: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ length: Int
    ) -> OpaquePointer? {
        let start = position.pointee
        if let certificate = d2i_X509(nil, position, length) {
            defer { X509_free(certificate) }
            // Not X509_PUBKEY_dup: OpenSSL 3.0 forgets that all bits of the key count, and writes one that ends with
            // zero bits differently.
            let key = X509Certificate.encode { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) }
            return key.withUnsafeBufferPointer { buffer in
                var start = buffer.baseAddress
                return d2i_X509_PUBKEY(nil, &start, buffer.count)
            }
        }
        ERR_clear_error()
        position.pointee = start
        return d2i_X509_PUBKEY(nil, position, length)
    }
}
