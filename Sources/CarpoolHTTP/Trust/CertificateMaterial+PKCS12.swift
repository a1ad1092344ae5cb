internal import CTLS

/// Reading PKCS#12 (RFC 7292): a list of safes, each of which may be encrypted, with bags of keys and certificates.
///
/// OpenSSL's own `PKCS12_parse` would run whatever number of iterations the file asks for.
extension CertificateMaterial {
    /// The depth to which safes may be nested in safes.
    private static let maximumDepth = 4

    /// Reads a whole file.
    mutating func readPKCS12(_ file: [UInt8]) throws(Failure) {
        guard let parsed = CertificateMaterial.parse(file) else {
            throw .unreadable(expected: "a PKCS#12 file", found: CertificateMaterial.kind(of: file))
        }
        defer { PKCS12_free(parsed) }
        let secret = try checkPassword(of: parsed)
        guard let safes = PKCS12_unpack_authsafes(parsed) else {
            throw .unreadable(expected: "a PKCS#12 file with a password", found: "one with a public key, or damaged")
        }
        defer { CertificateMaterial.free(safes) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) } }
        for index in 0..<OPENSSL_sk_num(safes) {
            guard let safe = OPENSSL_sk_value(safes, index)?.assumingMemoryBound(to: PKCS7.self) else { continue }
            try readSafe(safe, secret)
        }
        isUnordered = true
    }

    private static func parse(_ file: [UInt8]) -> OpaquePointer? {
        file.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_PKCS12(nil, &start, buffer.count)
        }
    }

    /// What a DER file is in place of PKCS#12.
    private static func kind(of file: [UInt8]) -> String {
        file.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            if let certificate = d2i_X509(nil, &start, buffer.count) {
                X509_free(certificate)
                return "a certificate in DER (convert it: openssl x509 -inform der)"
            }
            start = buffer.baseAddress
            if let key = d2i_AutoPrivateKey(nil, &start, buffer.count) {
                EVP_PKEY_free(key)
                return "a private key in DER (convert it: openssl pkey -inform der)"
            }
            return "other binary data"
        }
    }

    /// Checks the password by the file's authentication code, and returns the form of it that fits: no password has
    /// two of them.
    private mutating func checkPassword(of file: OpaquePointer) throws(Failure) -> [UInt8]? {
        guard PKCS12_mac_present(file) == 1 else { return password }
        var (digest, iterations): (UnsafePointer<X509_ALGOR>?, UnsafePointer<ASN1_INTEGER>?)
        PKCS12_get0_mac(nil, &digest, nil, &iterations, file)
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, digest)
        guard let name = OBJ_nid2sn(OBJ_obj2nid(object)), let method = EVP_MD_fetch(nil, name, nil) else {
            throw .unsupported(
                "the PKCS#12 file is authenticated in a way that is not known",
                hint: "make it again: openssl pkcs12 -export -macalg sha256")
        }
        EVP_MD_free(method)
        let forms: [[UInt8]?] = password?.isEmpty ?? true ? [nil, []] : [password]
        for form in forms {
            try cost.spend(KeyDerivationCost.number(iterations))
            let fits = CertificateMaterial.withText(form) { PKCS12_verify_mac(file, $0, $1) == 1 }
            if fits { return form }
        }
        throw password == nil ? .passwordMissing : .passwordWrong
    }

    private mutating func readSafe(_ safe: UnsafeMutablePointer<PKCS7>, _ secret: [UInt8]?) throws(Failure) {
        let bags: OpaquePointer?
        switch OBJ_obj2nid(safe.pointee.type) {
        case NID_pkcs7_data: bags = PKCS12_unpack_p7data(safe)
        case NID_pkcs7_encrypted:
            // Before 3.0.19 OpenSSL would decrypt through a null pointer where there is no content.
            guard let content = safe.pointee.d.encrypted?.pointee.enc_data, content.pointee.enc_data != nil else {
                throw CertificateMaterial.damaged
            }
            try cost.spend(on: content.pointee.algorithm)
            bags = CertificateMaterial.withText(secret) { PKCS12_unpack_p7encdata(safe, $0, $1) }
            guard bags != nil else { throw secret == nil ? .passwordMissing : .passwordWrong }
        default: return try add(other: "a safe of an unknown kind")
        }
        guard let bags else { throw CertificateMaterial.damaged }
        defer { CertificateMaterial.free(bags) { PKCS12_SAFEBAG_free($0.map { OpaquePointer($0) }) } }
        try readBags(bags, secret, depth: 0)
    }

    private mutating func readBags(_ bags: OpaquePointer?, _ secret: [UInt8]?, depth: Int) throws(Failure) {
        guard depth < CertificateMaterial.maximumDepth else { throw CertificateMaterial.damaged }
        for index in 0..<max(0, OPENSSL_sk_num(bags)) {
            guard let bag = OPENSSL_sk_value(bags, index).map({ OpaquePointer($0) }) else { continue }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_keyBag:
                guard let key = PKCS12_SAFEBAG_get0_p8inf(bag) else { throw CertificateMaterial.damaged }
                try add(unencrypted: key)
            case NID_pkcs8ShroudedKeyBag:
                guard let key = PKCS12_SAFEBAG_get0_pkcs8(bag) else { throw CertificateMaterial.damaged }
                try add(encrypted: key, secret)
            case NID_certBag:
                guard let certificate = PKCS12_SAFEBAG_get1_cert(bag) else { throw CertificateMaterial.damaged }
                try add(certificate: certificate)
            case NID_safeContentsBag: try readBags(PKCS12_SAFEBAG_get0_safes(bag), secret, depth: depth + 1)
            default: try add(other: "a bag of another kind")
            }
        }
    }

    /// Adds an encrypted PKCS#8 key.
    mutating func add(encrypted: OpaquePointer, _ secret: [UInt8]?) throws(Failure) {
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_SIG_get0(encrypted, &algorithm, nil)
        try cost.spend(on: algorithm)
        let decrypted = CertificateMaterial.withText(secret) { PKCS8_decrypt(encrypted, $0, $1) }
        guard let decrypted else { throw secret == nil ? .passwordMissing : .passwordWrong }
        defer { PKCS8_PRIV_KEY_INFO_free(decrypted) }
        try add(unencrypted: decrypted)
    }

    private static let damaged = Failure.unreadable(expected: "a PKCS#12 file", found: "a damaged one")

    private static func withText<Result>(
        _ secret: [UInt8]?, _ body: (UnsafePointer<CChar>?, Int32) -> Result
    ) -> Result {
        guard let secret else { return body(nil, 0) }
        // Never a null pointer: an empty password is another one than none.
        return (secret + [0]).withUnsafeBytes {
            body($0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(secret.count))
        }
    }

    private static func free(_ stack: OpaquePointer, _ body: (UnsafeMutableRawPointer?) -> Void) {
        for index in 0..<max(0, OPENSSL_sk_num(stack)) { body(OPENSSL_sk_value(stack, index)) }
        OPENSSL_sk_free(stack)
    }
}
