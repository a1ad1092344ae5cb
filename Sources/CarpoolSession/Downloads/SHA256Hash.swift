internal import CCrypto

/// A SHA-256 (FIPS 180-4) of bytes that come in pieces.
final class SHA256Hash {
    private let context: OpaquePointer?
    /// The hash, once it is asked for.
    private var result: [UInt8]?
    /// How many bytes it is of so far.
    private(set) var count: Int64 = 0

    /// How long a hash is, in bytes.
    private static let length = 32

    /// The hash of nothing.
    init() {
        context = EVP_MD_CTX_new()
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit { EVP_MD_CTX_free(context) }

    /// The hash of bytes that are all there.
    static func of(_ bytes: [UInt8]) -> [UInt8] {
        let hash = SHA256Hash()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }

    /// Adds bytes. Nothing can be added once the hash was asked for.
    func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        count &+= Int64(bytes.count)
    }

    /// The 32 bytes of the hash.
    func finish() -> [UInt8] {
        if let result { return result }
        var hash = [UInt8](repeating: 0, count: SHA256Hash.length)
        EVP_DigestFinal_ex(context, &hash, nil)
        result = hash
        return hash
    }
}
