internal import CTLS

extension ClientCertificate {
    /// The form of a client certificate's bytes.
    public enum Format: String, Sendable {
        /// PEM text: the certificate, its chain, and the private key in the same or a second text.
        case pem
        /// PKCS#12 (DER) with everything, also called PFX.
        case pkcs12 = "p12"
    }

    /// The largest text or file of certificates, and of a key.
    public static let maximumBytes = 1_048_576
    /// The most certificates beside the first.
    public static let maximumChain = 32
    /// The longest password.
    public static let maximumPasswordBytes = 1_024

    /// The SHA-256 of what a certificate is read from: what has the same one is read once. It must not be shown. `nil`
    /// if memory is out.
    public static func inputDigest(
        _ bytes: [UInt8], key: [UInt8]?, format: Format?, password: [UInt8]?
    ) -> [UInt8]? {
        guard let hash = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(hash) }
        guard EVP_DigestInit_ex(hash, EVP_sha256(), nil) == 1 else { return nil }
        for part in [bytes, key, format.map { Array($0.rawValue.utf8) }, password] {
            // The length before each part, so that no two inputs have the same bytes.
            var count = Int64(part?.count ?? -1)
            EVP_DigestUpdate(hash, &count, MemoryLayout<Int64>.size)
            if let part { EVP_DigestUpdate(hash, part, part.count) }
        }
        var digest = [UInt8](repeating: 0, count: 32)
        return EVP_DigestFinal_ex(hash, &digest, nil) == 1 ? digest : nil
    }

    /// Reads a certificate, its private key and its chain. Slow: for a thread of a ``Worker``.
    ///
    /// The certificate is the first to which the key belongs, the others are its chain, in their order. A password is
    /// only used for what is encrypted. Nothing is asked on a terminal, and no cost that a file asks for is unbounded:
    /// see ``KeyDerivationCost``.
    /// - Parameters:
    ///   - bytes: the certificates, and the key unless it is apart.
    ///   - key: the key's own PEM text; only with PEM certificates.
    ///   - format: `nil` to tell it from the content.
    public static func read(
        _ bytes: [UInt8], key: [UInt8]? = nil, format: Format? = nil, password: [UInt8]? = nil
    ) throws(Failure) -> ClientCertificate {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        try check(bytes, key, password)
        let found = Content(bytes)
        var material = CertificateMaterial(password: password)
        switch format ?? (found == .der ? .pkcs12 : .pem) {
        case .pkcs12:
            guard found == .der else { throw .unreadable(expected: "a PKCS#12 file", found: found.words) }
            guard key == nil else {
                throw .unreadable(expected: "a PKCS#12 file with its key in it", found: "a second text for the key")
            }
            try material.readPKCS12(bytes)
        case .pem:
            guard found == .text else { throw .unreadable(expected: "PEM text", found: found.words) }
            try material.readPEM(bytes, takesKey: key == nil)
            if let key {
                let found = Content(key)
                guard found == .text else { throw .unreadable(expected: "a private key in PEM", found: found.words) }
                try material.readPEM(key, takesCertificates: false)
            }
        }
        return try material.clientCertificate()
    }

    private static func check(_ bytes: [UInt8], _ key: [UInt8]?, _ password: [UInt8]?) throws(Failure) {
        for input in [bytes, key ?? []] where input.count > maximumBytes {
            throw .unreadable(expected: "at most \(maximumBytes) bytes", found: "\(input.count) bytes")
        }
        if let count = password?.count, count > maximumPasswordBytes {
            throw .unreadable(expected: "a password of at most \(maximumPasswordBytes) bytes", found: "\(count) bytes")
        }
    }

    /// The kind of content that a file's beginning shows.
    private enum Content {
        case empty
        case der
        case text

        init(_ bytes: [UInt8]) {
            if bytes.isEmpty {
                self = .empty
            } else if bytes.count > 1, bytes[0] == 0x30, bytes[1] & 0x80 != 0 {
                // A SEQUENCE of more than 127 bytes.
                self = .der
            } else {
                self = .text
            }
        }

        var words: String {
            switch self {
            case .empty: "nothing"
            case .der: "binary data (DER)"
            case .text: "text"
            }
        }
    }
}
