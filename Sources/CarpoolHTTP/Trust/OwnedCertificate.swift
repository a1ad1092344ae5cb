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
