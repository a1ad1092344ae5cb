internal import CTLS

/// The rules for the private keys of client certificates. Each handshake signs once with the key, on the loop, so that
/// a key that takes long would delay every other client.
///
/// Measured with OpenSSL 3.0 on one core: 0.24 ms with RSA of 2,048 bits, 1.5 with 3,072, 2.9 with 4,096, 30 with
/// 7,680; 0.7 with P-384 and at most 0.2 with the other curves.
enum SigningKey {
    private static let maximumRSABits: Int32 = 4_096
    /// Smaller ones are refused by every security level but 0, and cannot sign in TLS 1.3.
    private static let minimumRSABits: Int32 = 1_024
    private static let maximumExponentBits: Int32 = 32
    private static let curves: Set<String> = ["prime256v1", "secp384r1", "secp521r1"]

    /// Why a key is not used; `nil` if it may be.
    static func refusal(of key: OwnedKey) -> ClientCertificate.Failure? {
        switch EVP_PKEY_get_base_id(key.raw) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return refusal(ofRSA: key)
        case EVP_PKEY_EC:
            let curve = curve(of: key) ?? "explicit parameters"
            return curves.contains(curve) ? nil : .unsupportedKey("the key's curve is \(curve)")
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: return nil
        case EVP_PKEY_DSA: return .unsupportedKey("the key is a DSA key, which TLS 1.3 does not have")
        default:
            let name = EVP_PKEY_get0_type_name(key.raw).map { String(cString: $0) } ?? "of an unknown kind"
            return .unsupportedKey("the key cannot sign in TLS: it is \(name)")
        }
    }

    private static func refusal(ofRSA key: OwnedKey) -> ClientCertificate.Failure? {
        let size = EVP_PKEY_get_bits(key.raw)
        guard size <= maximumRSABits else {
            return .unsupportedKey("the RSA key has \(size) bits; at most \(maximumRSABits) are allowed")
        }
        guard size >= minimumRSABits else {
            return .unsupportedKey("the RSA key has \(size) bits; at least \(minimumRSABits) are needed")
        }
        func bits(_ name: String) -> Int32 { SigningKey.bits(key, name) }
        // An exponent may be as long as the file; without primes of half its length a signature takes ten times as
        // long.
        let (first, second) = (bits("rsa-factor1"), bits("rsa-factor2"))
        guard bits("e") <= maximumExponentBits, bits("d") <= size, first > 0, second > 0, first + second <= size + 1,
            abs(first - second) <= 2, bits("rsa-exponent1") <= first, bits("rsa-exponent2") <= second,
            bits("rsa-coefficient1") <= first, bits("rsa-factor3") == 0
        else { return .unsupportedKey("the RSA key is not made of two primes of equal length and usual exponents") }
        return nil
    }

    private static func bits(_ key: OwnedKey, _ name: String) -> Int32 {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key.raw, name, &number) == 1 else { return 0 }
        defer { BN_clear_free(number) }
        return BN_num_bits(number)
    }

    private static func curve(of key: OwnedKey) -> String? {
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(key.raw, &name, name.count, nil) == 1 else { return nil }
        return name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    }

    /// Whether a key's public part is the certificate's.
    static func matches(_ key: OwnedKey, _ certificate: OwnedCertificate) -> Bool {
        X509_check_private_key(certificate.raw, key.raw) == 1
    }

    /// Whether the certificate's key verifies what the private key signs: its public part could be one that does not
    /// belong to it.
    static func signs(_ key: OwnedKey, for certificate: OwnedCertificate) -> Bool {
        guard let signer = EVP_MD_CTX_new(), let verifier = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(signer)
            EVP_MD_CTX_free(verifier)
        }
        var name = [CChar](repeating: 0, count: 64)
        EVP_PKEY_get_default_digest_name(key.raw, &name, name.count)
        // Ed25519 and Ed448 have no digest of their choice.
        let digest = name.withUnsafeBufferPointer { EVP_get_digestbyname($0.baseAddress) }
        let text = Array("client certificate".utf8)
        var signature = [UInt8](repeating: 0, count: max(0, Int(EVP_PKEY_get_size(key.raw))))
        var length = signature.count
        guard EVP_DigestSignInit(signer, nil, digest, nil, key.raw) == 1,
            EVP_DigestSign(signer, &signature, &length, text, text.count) == 1,
            EVP_DigestVerifyInit(verifier, nil, digest, nil, X509_get0_pubkey(certificate.raw)) == 1
        else { return false }
        return EVP_DigestVerify(verifier, signature, length, text, text.count) == 1
    }
}
