internal import CCrypto
internal import CarpoolHTTP

/// The hash of a Digest challenge (RFC 7616, section 3.3).
enum DigestAlgorithm: String {
    case md5 = "MD5"
    case md5Session = "MD5-sess"
    case sha256 = "SHA-256"
    case sha256Session = "SHA-256-sess"

    /// The algorithm that a server names; MD5 if it names none.
    init?(name: String?) {
        guard let name else {
            self = .md5
            return
        }
        let known: [DigestAlgorithm] = [.md5, .md5Session, .sha256, .sha256Session]
        guard let found = known.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else { return nil }
        self = found
    }

    /// Whether the hash of the password includes the values of one challenge.
    var isOfSession: Bool { self == .md5Session || self == .sha256Session }

    /// The stronger one has the higher number.
    var strength: Int { self == .sha256 || self == .sha256Session ? 2 : 1 }

    /// The hash of a text, in hexadecimal digits; `nil` if OpenSSL does not allow it.
    func hash(_ text: String) -> String? { hash(Array(text.utf8)) }

    /// The hash of bytes, in hexadecimal digits; `nil` if OpenSSL does not allow it.
    func hash(_ bytes: [UInt8]) -> String? {
        var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let type = strength == 2 ? EVP_sha256() : EVP_md5()
        guard EVP_Digest(bytes, bytes.count, &result, &length, type, nil) == 1 else { return nil }
        return HexadecimalText.text(result[..<Int(length)])
    }
}
