internal import CCrypto

/// An incremental SHA-256 (FIPS 180-4).
final class SHA256Hash {
    private let context: OpaquePointer?
    /// The final hash, once ``finish()`` was called.
    private var result: [UInt8]?
    /// How many bytes were hashed so far.
    private(set) var count: Int64 = 0

    /// The length of a hash, in bytes.
    private static let length = 32

    /// Makes the hash of no bytes.
    init() {
        context = EVP_MD_CTX_new()
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit { EVP_MD_CTX_free(context) }

    /// The hash of an array of bytes.
    static func of(_ bytes: [UInt8]) -> [UInt8] {
        let hash = SHA256Hash()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.finish()
    }

    /// Adds bytes. Nothing can be added after ``finish()``.
    func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        count &+= Int64(bytes.count)
    }

    /// Returns the 32 bytes of the hash.
    func finish() -> [UInt8] {
        if let result { return result }
        var hash = [UInt8](repeating: 0, count: SHA256Hash.length)
        EVP_DigestFinal_ex(context, &hash, nil)
        result = hash
        return hash
    }
}
