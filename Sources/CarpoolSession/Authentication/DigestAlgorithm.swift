internal import CCrypto

/// The hash of a Digest challenge (RFC 7616, section 3.3).
enum DigestAlgorithm: String {
    case md5 = "MD5"
    case md5Session = "MD5-sess"
    case sha256 = "SHA-256"
    case sha256Session = "SHA-256-sess"
    case sha512256 = "SHA-512-256"
    case sha512256Session = "SHA-512-256-sess"

    /// The algorithm that a server names; MD5 if it names none.
    init?(name: String?) {
        guard let name else {
            self = .md5
            return
        }
        let known: [DigestAlgorithm] = [
            .md5, .md5Session, .sha256, .sha256Session, .sha512256, .sha512256Session,
        ]
        guard let found = known.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else { return nil }
        self = found
    }

    /// Whether the hash of the password includes the values of one challenge.
    var isOfSession: Bool { self == .md5Session || self == .sha256Session || self == .sha512256Session }

    /// The stronger one has the higher number.
    var strength: Int {
        switch self {
        case .md5, .md5Session: 1
        case .sha256, .sha256Session: 2
        case .sha512256, .sha512256Session: 3
        }
    }

    private var type: OpaquePointer? {
        switch self {
        case .md5, .md5Session: DigestAlgorithm.types.md5
        case .sha256, .sha256Session: DigestAlgorithm.types.sha256
        case .sha512256, .sha512256Session: DigestAlgorithm.types.sha512256
        }
    }

    /// The hash of bytes, in hexadecimal digits; `nil` if OpenSSL does not allow it.
    func hash(_ bytes: [UInt8]) -> [UInt8]? {
        guard let type else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(EVP_MAX_MD_SIZE)) { result in
            var length: UInt32 = 0
            guard EVP_Digest(bytes, bytes.count, result.baseAddress, &length, type, nil) == 1 else { return nil }
            return [UInt8](unsafeUninitializedCapacity: 2 &* Int(length)) { text, count in
                for index in 0..<Int(length) {
                    text[2 &* index] = DigestAlgorithm.digit(result[index] >> 4)
                    text[2 &* index &+ 1] = DigestAlgorithm.digit(result[index] & 15)
                }
                count = 2 &* Int(length)
            }
        }
    }

    /// A digit of a hexadecimal number.
    static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }

    /// OpenSSL's methods. Fetched once: otherwise each hash searches for its provider.
    private struct Types: @unchecked Sendable {
        let md5 = EVP_MD_fetch(nil, "MD5", nil)
        let sha256 = EVP_MD_fetch(nil, "SHA256", nil)
        let sha512256 = EVP_MD_fetch(nil, "SHA512-256", nil)
    }

    private static let types = Types()
}
