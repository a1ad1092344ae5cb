internal import CTLS

/// A parsed certificate, freed with its last reference.
final class OwnedCertificate {
    let raw: OpaquePointer

    /// Takes the object over.
    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { X509_free(raw) }
}

/// A parsed key, freed with its last reference; OpenSSL overwrites its memory.
final class OwnedKey {
    let raw: OpaquePointer

    /// Takes the object over.
    init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { EVP_PKEY_free(raw) }
}

/// Bytes in hexadecimal digits.
enum HexadecimalText {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two lower-case digits for each byte.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
