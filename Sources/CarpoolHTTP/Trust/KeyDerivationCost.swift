internal import CTLS

/// Bounds the time for deriving keys from passwords. A file says how many iterations each of its encrypted parts
/// takes, so they are added up before they are run.
///
/// Measured with OpenSSL 3.0 on one core: an iteration takes 0.18 us with PBKDF2 and SHA-1, 0.20 with SHA-256, 0.41
/// with SHA-512, 0.71 with SHA3-512, and less than half of that with PKCS#12's own derivation; scrypt takes 2.6 ms for
/// each MiB. The whole budget takes about a second.
struct KeyDerivationCost {
    typealias Failure = ClientCertificate.Failure

    /// The iterations of all parts together.
    static let maximumIterations = 2_000_000
    /// OpenSSL's own limit of the memory of scrypt.
    private static let maximumScryptBytes = 33_554_432
    /// The bytes that scrypt mixes in the time of an iteration.
    private static let scryptBytesPerIteration = 160

    private var left = KeyDerivationCost.maximumIterations

    /// Takes iterations from the budget, or throws if they exceed it.
    mutating func spend(_ iterations: Int64, blocks: Int = 1) throws(Failure) {
        let (total, overflows) = iterations.multipliedReportingOverflow(by: Int64(blocks))
        guard iterations >= 1, !overflows else {
            throw .unreadable(expected: "a number of iterations", found: "\(iterations)")
        }
        guard total <= Int64(left) else {
            throw .unsupported(
                "decrypting takes more than \(KeyDerivationCost.maximumIterations) iterations",
                hint: "encrypt it with fewer: openssl pkcs12 -export -iter 10000, or openssl pkcs8 -topk8 -iter 10000")
        }
        left -= Int(total)
    }

    /// Takes what a part of a file needs from the budget; throws if that is too much, or OpenSSL cannot decrypt it.
    mutating func spend(on algorithm: UnsafePointer<X509_ALGOR>?) throws(Failure) {
        var object: OpaquePointer?
        var type: Int32 = 0
        var value: UnsafeRawPointer?
        X509_ALGOR_get0(&object, &type, &value, algorithm)
        guard type == V_ASN1_SEQUENCE, let value else { throw KeyDerivationCost.unknown(object) }
        let parameters = value.assumingMemoryBound(to: ASN1_STRING.self)
        if OBJ_obj2nid(object) == NID_pbes2 { return try spend(onPBES2: parameters) }
        var cipher: Int32 = -1
        var digest: Int32 = -1
        guard EVP_PBE_find(EVP_PBE_TYPE_OUTER, OBJ_obj2nid(object), &cipher, &digest, nil) == 1 else {
            throw KeyDerivationCost.unknown(object)
        }
        try KeyDerivationCost.checkCipher(cipher)
        guard
            let parsed = KeyDerivationCost.parse(parameters, { d2i_PBEPARAM(nil, $0, $1) })
        else { throw KeyDerivationCost.damaged }
        defer { PBEPARAM_free(parsed) }
        // Two blocks of the key, and one of the initialization vector.
        try spend(KeyDerivationCost.number(parsed.pointee.iter), blocks: 3)
    }

    private mutating func spend(onPBES2 parameters: UnsafePointer<ASN1_STRING>) throws(Failure) {
        guard let parsed = KeyDerivationCost.parse(parameters, { d2i_PBE2PARAM(nil, $0, $1) }) else {
            throw KeyDerivationCost.damaged
        }
        defer { PBE2PARAM_free(parsed) }
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, parsed.pointee.encryption)
        try KeyDerivationCost.checkCipher(OBJ_obj2nid(object))
        var type: Int32 = 0
        var value: UnsafeRawPointer?
        X509_ALGOR_get0(&object, &type, &value, parsed.pointee.keyfunc)
        guard type == V_ASN1_SEQUENCE, let value else { throw KeyDerivationCost.unknown(object) }
        let inner = value.assumingMemoryBound(to: ASN1_STRING.self)
        switch OBJ_obj2nid(object) {
        case NID_id_pbkdf2:
            guard let function = KeyDerivationCost.parse(inner, { d2i_PBKDF2PARAM(nil, $0, $1) }) else {
                throw KeyDerivationCost.damaged
            }
            defer { PBKDF2PARAM_free(function) }
            try spend(
                KeyDerivationCost.number(function.pointee.iter), blocks: KeyDerivationCost.blocks(function.pointee.prf))
        case NID_id_scrypt:
            guard let function = KeyDerivationCost.parse(inner, { d2i_SCRYPT_PARAMS(nil, $0, $1) }) else {
                throw KeyDerivationCost.damaged
            }
            defer { SCRYPT_PARAMS_free(function) }
            try spend(onScrypt: function.pointee)
        default: throw KeyDerivationCost.unknown(object)
        }
    }

    /// The blocks of a digest that the longest key, of 32 bytes, takes.
    private static func blocks(_ function: UnsafePointer<X509_ALGOR>?) -> Int {
        guard let function else { return 2 }
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, function)
        var digest: Int32 = -1
        guard EVP_PBE_find(EVP_PBE_TYPE_PRF, OBJ_obj2nid(object), nil, &digest, nil) == 1,
            let name = OBJ_nid2sn(digest), let method = EVP_get_digestbyname(name)
        else { return 2 }
        return EVP_MD_get_size(method) < 32 ? 2 : 1
    }

    private mutating func spend(onScrypt parameters: SCRYPT_PARAMS) throws(Failure) {
        let cost = KeyDerivationCost.number(parameters.costParameter)
        let block = KeyDerivationCost.number(parameters.blockSize)
        let parallel = KeyDerivationCost.number(parameters.parallelizationParameter)
        let limit = Int64(KeyDerivationCost.maximumScryptBytes)
        guard cost > 1, block > 0, parallel > 0, cost <= limit, block <= limit, parallel <= limit else {
            throw KeyDerivationCost.damaged
        }
        // No overflow: each factor has at most 25 bits, and the first product is checked before the second.
        let memory = 128 * block
        guard memory <= limit, memory * (cost + 2) <= limit, memory * parallel <= limit,
            memory * (cost + 2) + memory * parallel <= limit
        else {
            throw .unsupported(
                "decrypting takes more than \(limit >> 20) MiB of memory (scrypt)",
                hint: "encrypt it with openssl pkcs8 -topk8 -v2 aes-256-cbc")
        }
        try spend(memory * cost / Int64(KeyDerivationCost.scryptBytesPerIteration) + 1, blocks: Int(parallel))
    }

    /// Throws if OpenSSL cannot use a cipher without its legacy provider, such as RC2 or single DES.
    static func checkCipher(_ number: Int32) throws(Failure) {
        guard let name = OBJ_nid2sn(number), let cipher = EVP_CIPHER_fetch(nil, name, nil) else {
            let name = OBJ_nid2sn(number).map { String(cString: $0) } ?? "an unknown cipher"
            throw .unsupported(
                "it is encrypted with \(name), which OpenSSL 3 has in its legacy provider only",
                hint: "convert it: openssl pkcs12 -legacy -in OLD.p12 -noenc | openssl pkcs12 -export -out NEW.p12")
        }
        EVP_CIPHER_free(cipher)
    }

    private static let damaged = Failure.unreadable(
        expected: "an encrypted private key", found: "one whose parameters cannot be read")

    private static func unknown(_ object: OpaquePointer?) -> Failure {
        let name = OBJ_nid2ln(OBJ_obj2nid(object)).map { String(cString: $0) } ?? "unknown"
        return .unsupported(
            "it is encrypted in a way that is not known (\(name))",
            hint: "encrypt it with openssl pkcs8 -topk8 -v2 aes-256-cbc, or openssl pkcs12 -export")
    }

    /// A number that may be absent, which means 1; -1 if it is too large.
    static func number(_ integer: UnsafePointer<ASN1_INTEGER>?) -> Int64 {
        guard let integer else { return 1 }
        var value: Int64 = -1
        return ASN1_INTEGER_get_int64(&value, integer) == 1 ? value : -1
    }

    private static func parse<Value>(
        _ text: UnsafePointer<ASN1_STRING>, _ body: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> Value?
    ) -> Value? {
        var bytes = ASN1_STRING_get0_data(text)
        return body(&bytes, Int(ASN1_STRING_length(text)))
    }
}
