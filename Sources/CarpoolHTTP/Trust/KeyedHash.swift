internal import CTLS

/// HMAC-SHA-256 (RFC 2104): recognises a secret again without keeping it.
public struct KeyedHash: Sendable {
    private let key: [UInt8]

    /// Makes the hash with a key of 32 random bytes.
    public init(key: [UInt8]) { self.key = key }

    /// A hash with a random key.
    public static func random() -> KeyedHash {
        var generator = SystemRandomNumberGenerator()
        return KeyedHash(key: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The 32 bytes of the hash of a secret.
    public func bytes(of secret: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        HMAC(EVP_sha256(), key, Int32(key.count), secret, secret.count, &hash, &length)
        return hash
    }
}
