internal import CTLS

/// SHA-256 of bytes.
public enum SHA256Digest {
    /// The 32 bytes of the hash.
    public static func bytes(of bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        EVP_Digest(bytes, bytes.count, &hash, &length, EVP_sha256(), nil)
        return Array(hash[..<Int(length)])
    }

    /// The hash in hexadecimal digits.
    static func text(of bytes: [UInt8]) -> String { HexadecimalText.text(self.bytes(of: bytes)) }
}
