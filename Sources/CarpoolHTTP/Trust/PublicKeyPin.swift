/// The SHA-256 of a public key (SubjectPublicKeyInfo, RFC 5280, section 4.1), written as curl writes it: `sha256//` and
/// Base64.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is not a pin.
    public enum Failure: Error, Sendable, Equatable {
        /// It does not begin with `sha256//`.
        case noPrefix
        /// The rest does not have this many characters.
        case wrongLength(expected: Int)
        /// The rest is not the Base64 form of 32 bytes (RFC 4648, section 4).
        case notBase64
    }

    /// The 32 bytes of the hash.
    public let hash: [UInt8]

    private static let prefix = "sha256//"
    private static let encodedLength = 44
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    init(hash: [UInt8]) { self.hash = hash }

    /// A pin from its text form. libcurl would accept any text, and never find the key.
    public init(_ text: String) throws(Failure) {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: PublicKeyPin.prefix.utf8) else { throw .noPrefix }
        let encoded = bytes.dropFirst(PublicKeyPin.prefix.utf8.count)
        guard encoded.count == PublicKeyPin.encodedLength else {
            throw .wrongLength(expected: PublicKeyPin.encodedLength)
        }
        guard let hash = PublicKeyPin.decode(encoded) else { throw .notBase64 }
        self.hash = hash
    }

    /// The text form, as in `sha256//...=`.
    public var description: String {
        var text = Array(PublicKeyPin.prefix.utf8)
        for start in stride(from: 0, to: hash.count, by: 3) {
            let group = hash[start..<min(start + 3, hash.count)]
            let bits = (0..<3).reduce(0) { $0 << 8 | (start + $1 < hash.count ? Int(hash[start + $1]) : 0) }
            for index in 0..<4 {
                let letter = PublicKeyPin.alphabet[bits >> (18 - 6 * index) & 63]
                text.append(index <= group.count ? letter : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The 32 bytes of 43 letters and a `=`; the two bits that are left over must be zero.
    private static func decode(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
        guard encoded.last == UInt8(ascii: "=") else { return nil }
        var hash: [UInt8] = []
        var (bits, count) = (0, 0)
        for letter in encoded.dropLast() {
            guard let value = alphabet.firstIndex(of: letter) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            hash.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bits & 3 == 0 ? hash : nil
    }
}
