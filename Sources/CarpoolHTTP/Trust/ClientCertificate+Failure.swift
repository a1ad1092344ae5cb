internal import CTLS
internal import CarpoolSystem

extension ClientCertificate {
    /// Why a client certificate cannot be read, or cannot be used.
    public enum Failure: Error, Hashable, Sendable {
        /// The key or the file is encrypted, and no password was given.
        case passwordMissing
        /// The password does not decrypt it.
        case passwordWrong
        /// The certificate was valid until this second since 1970.
        case expired(Int64)
        /// The certificate is valid from this second since 1970.
        case notYetValid(Int64)
        /// The private key belongs to none of the certificates.
        case keyMismatch
        /// Something else was found than what is needed.
        case unreadable(expected: String, found: String)
        /// The key is of a kind that is not used, or takes too long.
        case unsupportedKey(String)
        /// The file uses what this daemon does not support; what to do about it.
        case unsupported(String, hint: String)

        /// The name that clients see, behind `client_certificate.`.
        public var name: String {
            switch self {
            case .passwordMissing, .passwordWrong: "password"
            case .expired, .notYetValid: "expired"
            case .keyMismatch: "key_mismatch"
            case .unreadable: "unreadable"
            case .unsupportedKey: "unsupported_key"
            case .unsupported: "unsupported"
            }
        }

        /// What is wrong, in words.
        public var message: String {
            switch self {
            case .passwordMissing: "the private key or its file is encrypted, and no password is given"
            case .passwordWrong: "the password does not decrypt the private key or its file"
            case .expired(let time): "the client certificate expired at \(CertificateTime.text(time))"
            case .notYetValid(let time): "the client certificate is not valid before \(CertificateTime.text(time))"
            case .keyMismatch: "the private key belongs to none of the certificates"
            case .unreadable(let expected, let found): "expected \(expected), found \(found)"
            case .unsupportedKey(let reason): reason
            case .unsupported(let reason, _): reason
            }
        }

        /// What to do about it.
        public var hint: String {
            switch self {
            case .passwordMissing: "give the password, or remove it with: openssl pkey -in KEY.pem -out NEW.pem"
            case .passwordWrong:
                "check it: openssl pkey -in KEY.pem -noout, or openssl pkcs12 -in FILE.p12 -noout"
            case .expired: "renew the certificate"
            case .notYetValid: "wait for this time, or check the clock of this machine"
            case .keyMismatch: "compare: openssl x509 -in CERT.pem -noout -pubkey; openssl pkey -in KEY.pem -pubout"
            case .unreadable: "give PEM text with CERTIFICATE and PRIVATE KEY blocks, or a PKCS#12 file"
            case .unsupportedKey:
                "use an RSA key of 2,048 to 4,096 bits, P-256, P-384, P-521 or Ed25519"
            case .unsupported(_, let hint): hint
            }
        }

        /// The failure of what OpenSSL refuses to use in a connection; its reason is in the error queue.
        static func refusedByTLS(number: Int) -> Failure {
            let subject = number == 1 ? "the client certificate" : "certificate \(number) of the client's chain"
            let error = ERR_peek_last_error()
            let reason = ERR_reason_error_string(error).map { String(cString: $0) } ?? "not usable"
            return .unsupportedKey(
                "\(subject) is refused at this security level (\(reason)); tls.ciphers with @SECLEVEL=0 lowers it")
        }
    }
}

/// Times of certificates in words.
enum CertificateTime {
    /// The date and time in UTC, as RFC 3339 writes them.
    static func text(_ seconds: Int64) -> String {
        let (days, second) = CivilDate.split(secondsSince1970: Int(seconds))
        let date = CivilDate(daysSince1970: days)
        func digits(_ number: Int, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let day = "\(digits(date.year, 4))-\(digits(date.month))-\(digits(date.day))"
        return "\(day)T\(digits(second / 3_600)):\(digits(second / 60 % 60)):\(digits(second % 60))Z"
    }
}
