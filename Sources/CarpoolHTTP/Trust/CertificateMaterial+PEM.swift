internal import CTLS

/// Reading PEM text.
extension CertificateMaterial {
    /// Reads all blocks of a text.
    mutating func readPEM(
        _ text: [UInt8], takesCertificates: Bool = true, takesKey: Bool = true
    ) throws(Failure) {
        guard let input = BIO_new(BIO_s_mem()) else { throw .unreadable(expected: "memory", found: "none") }
        defer { BIO_free(input) }
        BIO_write(input, text, Int32(text.count))
        while let block = PEMBlock(input) {
            switch block.name {
            case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE":
                if takesCertificates { try readCertificate(block) }
            case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY":
                if takesKey { try readKey(block) }
            // What `openssl ecparam -genkey` writes in front of a key.
            case "EC PARAMETERS", "DH PARAMETERS": break
            default: try add(other: PEMBlock.words(block.name))
            }
        }
        guard CTLS_is_at_end_of_pem() == 1 else {
            throw .unreadable(expected: "PEM text", found: "a block that is empty, cut off or not Base64")
        }
        ERR_pop_to_mark()
        ERR_set_mark()
    }

    private mutating func readCertificate(_ block: PEMBlock) throws(Failure) {
        var bytes = block.start
        // With X509_AUX, the trust settings behind the certificate of a trusted one are skipped.
        let isTrusted = block.name.hasPrefix("TRUSTED")
        let certificate = isTrusted ? d2i_X509_AUX(nil, &bytes, block.count) : d2i_X509(nil, &bytes, block.count)
        guard let certificate else { throw .unreadable(expected: "a certificate", found: "a block that is none") }
        try add(certificate: certificate)
    }

    private mutating func readKey(_ block: PEMBlock) throws(Failure) {
        guard block.name != "DSA PRIVATE KEY" else {
            throw .unsupportedKey("the key is a DSA key, which TLS 1.3 does not have")
        }
        let isEncrypted = try decrypt(block)
        var bytes = block.start
        switch block.name {
        case "PRIVATE KEY":
            guard let information = d2i_PKCS8_PRIV_KEY_INFO(nil, &bytes, block.count) else { throw unreadable(block) }
            defer { PKCS8_PRIV_KEY_INFO_free(information) }
            try add(unencrypted: information)
        case "ENCRYPTED PRIVATE KEY":
            guard let encrypted = d2i_X509_SIG(nil, &bytes, block.count) else { throw unreadable(block) }
            defer { X509_SIG_free(encrypted) }
            guard let password else { throw .passwordMissing }
            try add(encrypted: encrypted, password)
        default:
            let type = block.name == "RSA PRIVATE KEY" ? EVP_PKEY_RSA : EVP_PKEY_EC
            guard let key = d2i_PrivateKey(type, nil, &bytes, block.count) else {
                // A wrong password passes the check of the last block's padding in one of 256 cases.
                throw isEncrypted ? .passwordWrong : unreadable(block)
            }
            try add(key: key)
        }
    }

    private func unreadable(_ block: PEMBlock) -> Failure {
        .unreadable(expected: "a private key", found: "\(PEMBlock.words(block.name)) that cannot be read")
    }

    /// Decrypts a block of the old form, whose fields name the cipher. Returns whether it was encrypted.
    private func decrypt(_ block: PEMBlock) throws(Failure) -> Bool {
        var information = EVP_CIPHER_INFO()
        guard PEM_get_EVP_CIPHER_INFO(block.header, &information) == 1 else {
            throw .unsupported(
                "the key is encrypted with a cipher that is not known", hint: "convert it: openssl pkcs8 -topk8")
        }
        guard let cipher = information.cipher else { return false }
        guard let password else { throw .passwordMissing }
        try KeyDerivationCost.checkCipher(EVP_CIPHER_get_nid(cipher))
        let isDecrypted = password.withUnsafeBytes { bytes in
            var bytes = bytes
            return PEM_do_header(&information, block.content, &block.count, copyPassword, &bytes) == 1
        }
        guard isDecrypted else { throw .passwordWrong }
        return true
    }

    /// Adds an unencrypted PKCS#8 key.
    mutating func add(unencrypted information: OpaquePointer) throws(Failure) {
        guard let key = EVP_PKCS82PKEY(information) else {
            throw .unsupportedKey("the private key is damaged, or of an unknown kind")
        }
        try add(key: key)
    }
}

/// A block of PEM text, decoded.
private final class PEMBlock {
    let name: String
    /// The fields at its beginning, such as those of the old form of encryption.
    let header: UnsafeMutablePointer<CChar>?
    let content: UnsafeMutablePointer<UInt8>?
    var start: UnsafePointer<UInt8>? { UnsafePointer(content) }
    /// The number of bytes; less after they are decrypted.
    var count: Int
    private let allocated: Int

    /// Reads the next one; `nil` at the end of the text, and upon an error.
    init?(_ input: OpaquePointer) {
        var (name, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(input, &name, &header, &bytes, &count) == 1, let name else { return nil }
        self.name = String(cString: name)
        CRYPTO_free(name, #file, #line)
        self.header = header
        content = bytes
        self.count = count
        allocated = count
    }

    deinit {
        CRYPTO_free(header, #file, #line)
        CRYPTO_clear_free(content, allocated, #file, #line)
    }

    /// A kind of block in words.
    static func words(_ name: String) -> String {
        name == "OPENSSH PRIVATE KEY"
            ? "an OpenSSH key (convert it: ssh-keygen -p -m pkcs8 -f KEY)" : "\(name.prefix(64).debugDescription)"
    }
}

/// Passes the password to OpenSSL, which would ask for it on the terminal without this function.
private func copyPassword(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let buffer, let context else { return -1 }
    let password = context.assumingMemoryBound(to: UnsafeRawBufferPointer.self).pointee
    guard password.count <= Int(size) else { return -1 }
    UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyMemory(from: password)
    return Int32(password.count)
}
