import CTLS

@testable import CarpoolHTTP

/// A client certificate is read or refused: within memory, and without an error that OpenSSL keeps.
enum CertificatesTarget {
    static func run(_ input: UnsafeRawBufferPointer) {
        guard let first = input.first else { return }
        let bytes = Array(input.dropFirst())
        let password = first & 1 == 0 ? Array("secret".utf8) : nil
        let format: ClientCertificate.Format? = first & 2 == 0 ? nil : first & 4 == 0 ? .pem : .pkcs12
        let read = try? ClientCertificate.read(bytes, format: format, password: password)
        require(ERR_peek_error() == 0, "OpenSSL has kept an error")
        guard let read else { return }
        require(!"\(read)\(read.summary)".contains("PRIVATE"), "a description has the key")
        require(read == (try? ClientCertificate.read(bytes, format: format, password: password)), "not equal to itself")
    }
}
