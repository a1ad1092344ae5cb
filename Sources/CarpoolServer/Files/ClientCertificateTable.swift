internal import CarpoolHTTP

/// The client certificates in use, by the digests of what they were read from: the same files and texts are parsed and
/// decrypted once.
struct ClientCertificateTable {
    private struct Weak {
        weak var certificate: ClientCertificate?
    }

    private var certificates: [[UInt8]: Weak] = [:]

    /// Those in use, for a job that reads another one.
    var known: [[UInt8]: ClientCertificate] {
        mutating get {
            certificates = certificates.filter { $0.value.certificate != nil }
            return certificates.compactMapValues(\.certificate)
        }
    }

    /// Notes a certificate that was read.
    mutating func adopt(_ reading: ClientCertificateNames.Reading?) {
        guard case .success(let read) = reading, let digest = read.digest else { return }
        certificates[digest] = Weak(certificate: read.certificate)
    }
}
