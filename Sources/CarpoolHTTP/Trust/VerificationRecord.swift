internal import CTLS

/// The result of OpenSSL's standard verification of the server of one connection.
///
/// Behind an HTTPS proxy libcurl reports only that the handshake has failed. OpenSSL's setting of the connection keeps
/// the record alive: a server may start another handshake on a pooled connection.
final class VerificationRecord {
    /// OpenSSL's number of what is wrong (`X509_V_ERR_...`); 0 if nothing is.
    private(set) var result = X509_V_OK

    /// What is wrong, in OpenSSL's words.
    var message: String { "SSL certificate problem: \(String(cString: X509_verify_cert_error_string(Int(result))))" }

    /// Records the verification of a connection whose limits of handshakes were set; false if memory is out.
    /// - Parameter context: OpenSSL's `SSL_CTX`.
    func install(on context: UnsafeMutableRawPointer) -> Bool {
        let settings = OpaquePointer(context)
        let retained = Unmanaged.passRetained(self)
        guard
            VerificationRecord.place >= 0,
            SSL_CTX_set_ex_data(settings, VerificationRecord.place, retained.toOpaque()) == 1
        else {
            retained.release()
            return false
        }
        SSL_CTX_set_cert_verify_callback(
            settings,
            { verification, record in
                let isValid = CTLS_verify(verification, nil)
                guard let record else { return isValid }
                Unmanaged<VerificationRecord>.fromOpaque(record).takeUnretainedValue().result =
                    X509_STORE_CTX_get_error(verification)
                return isValid
            }, retained.toOpaque())
        return true
    }

    /// Where a connection's settings hold their reference to the record.
    private static let place = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
        _, object, _, _, _, _ in
        if let object { Unmanaged<VerificationRecord>.fromOpaque(object).release() }
    }
}
