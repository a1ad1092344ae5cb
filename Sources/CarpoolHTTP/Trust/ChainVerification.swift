internal import CTLS

/// Builds and verifies one chain, as libcurl has OpenSSL do it for a connection. The store is only read.
struct ChainVerification {
    /// OpenSSL's result of a chain that is not valid.
    struct Failure: Error, Equatable {
        /// `X509_V_ERR_...`
        let code: Int32
        /// The place in the chain, 0 for the server's own certificate.
        let depth: Int32

        var text: String {
            let reason = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error"
            return "error \(code) at depth \(depth): \(reason)"
        }
    }

    /// The server's own certificate.
    let leaf: X509Certificate
    /// Certificates from which the chain may be built.
    let untrusted: [X509Certificate]
    let store: TrustStore
    /// The connection's security level, which decides about weak keys and signatures.
    let securityLevel: Int32
    /// The time for which it is verified, in seconds since 1970; `nil` for now.
    var time: Int?
    /// Lists of revoked certificates, and what happens without one.
    var revocation: (lists: CertificateRevocationLists, absence: ListAbsence)?

    /// The chain, from the server's own certificate to one that is trusted.
    func verify() -> Result<[X509Certificate], Failure> {
        guard let verification = X509_STORE_CTX_new(), let stack = OPENSSL_sk_new_null() else {
            return .failure(Failure(code: X509_V_ERR_OUT_OF_MEM, depth: 0))
        }
        defer {
            X509_STORE_CTX_free(verification)
            OPENSSL_sk_free(stack)
            ERR_clear_error()
        }
        for certificate in untrusted { OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.raw)) }
        guard X509_STORE_CTX_init(verification, store.raw, leaf.raw, stack) == 1,
            X509_STORE_CTX_set_default(verification, "ssl_server") == 1
        else { return .failure(Failure(code: X509_V_ERR_OUT_OF_MEM, depth: 0)) }
        CTLS_limit_chain(verification)
        let parameters = X509_STORE_CTX_get0_param(verification)
        X509_VERIFY_PARAM_set_auth_level(parameters, securityLevel)
        if let time { X509_VERIFY_PARAM_set_time(parameters, time) }
        if let (lists, absence) = revocation {
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL))
            X509_STORE_CTX_set0_crls(verification, lists.stack)
            absence.install(on: verification)
        }
        guard withExtendedLifetime(revocation?.absence, { X509_verify_cert(verification) }) == 1 else {
            return .failure(
                Failure(
                    code: X509_STORE_CTX_get_error(verification), depth: X509_STORE_CTX_get_error_depth(verification)))
        }
        return .success(CertificateStack.certificates(of: X509_STORE_CTX_get0_chain(verification)))
    }
}

/// Decides what happens where there is no list of revoked certificates for a certificate of a chain.
///
/// A chain is verified before its lists are, so that whatever else OpenSSL reports is about a list: its signature, its
/// time, or that it has the certificate.
final class ListAbsence {
    /// The lists that there are.
    private let lists: CertificateRevocationLists
    /// Whether the server's own certificate needs a list.
    private let leafNeedsList: Bool
    /// Whether the others need one, but for the one that is trusted.
    private let othersNeedList: Bool
    /// The place of a certificate whose issuer is not in the chain: OpenSSL takes it for its own issuer, and every list
    /// for forged.
    private let placeWithoutIssuer: Int?

    init(
        of lists: CertificateRevocationLists, leafNeedsList: Bool, othersNeedList: Bool, placeWithoutIssuer: Int?
    ) {
        self.lists = lists
        self.leafNeedsList = leafNeedsList
        self.othersNeedList = othersNeedList
        self.placeWithoutIssuer = placeWithoutIssuer
    }

    func install(on verification: OpaquePointer) {
        X509_STORE_CTX_set_ex_data(verification, 0, Unmanaged.passUnretained(self).toOpaque())
        X509_STORE_CTX_set_verify_cb(verification) { isValid, verification in
            guard isValid == 0, let context = X509_STORE_CTX_get_ex_data(verification, 0) else { return isValid }
            let absence = Unmanaged<ListAbsence>.fromOpaque(context).takeUnretainedValue()
            guard absence.accepts(verification) else { return 0 }
            X509_STORE_CTX_set_error(verification, X509_V_OK)
            return 1
        }
    }

    private func accepts(_ verification: OpaquePointer?) -> Bool {
        let depth = Int(X509_STORE_CTX_get_error_depth(verification))
        if depth == placeWithoutIssuer { return true }
        guard X509_STORE_CTX_get_error(verification) == X509_V_ERR_UNABLE_TO_GET_CRL else { return false }
        // A list with the issuer's name that OpenSSL does not use, such as one of another key, is not the same as none.
        guard let current = X509_STORE_CTX_get_current_cert(verification), lists.lists(about: current).isEmpty else {
            return false
        }
        let isTrusted = depth == Int(OPENSSL_sk_num(X509_STORE_CTX_get0_chain(verification))) - 1
        return depth == 0 ? !leafNeedsList : isTrusted || !othersNeedList
    }
}

/// OpenSSL's lists of certificates.
enum CertificateStack {
    /// About how long it takes to compare the names of a chain with the constraints of its authorities, in tenths of a
    /// millisecond.
    static func nameCost(of chain: [X509Certificate]) -> Int {
        let stack = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(stack) }
        for certificate in chain { OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.raw)) }
        return Int(CTLS_name_cost(stack)) >> 18
    }

    /// The certificates, sharing OpenSSL's objects.
    static func certificates(of stack: OpaquePointer?) -> [X509Certificate] {
        (0..<max(0, OPENSSL_sk_num(stack))).compactMap {
            OPENSSL_sk_value(stack, $0).map { X509Certificate(sharing: OpaquePointer($0)) }
        }
    }
}
