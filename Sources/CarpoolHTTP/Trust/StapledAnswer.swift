internal import CTLS

/// The answer of an OCSP responder (RFC 6960) that a server sends with its certificate.
struct StapledAnswer {
    /// Why the answer does not say that the certificate is good.
    struct Failure: Error, Equatable {
        let text: String
    }

    private let basic: OpaquePointer
    /// The certificate that the answer is about, and the one that issued it.
    private let leaf: X509Certificate
    private let issuer: X509Certificate
    private let time: Int

    /// The most time for a signature of a delegate, in tenths of a millisecond.
    static let delegateCost = 11
    /// By how much clocks may differ.
    private static let skewSeconds = 300
    /// The age at which an answer that does not say for how long it holds is too old.
    private static let maximumAgeSeconds = 604_800
    /// The number of certificates in an answer that are compared with the server's.
    private static let maximumCertificates = 32

    /// Returns if the answer says that the certificate is good, and throws if it does not.
    static func check(
        _ bytes: [UInt8], leaf: X509Certificate, issuer: X509Certificate, time: Int
    ) throws(Failure) {
        defer { ERR_clear_error() }
        var position: UnsafePointer<UInt8>?
        let response = bytes.withUnsafeBufferPointer { buffer in
            position = buffer.baseAddress
            return d2i_OCSP_RESPONSE(nil, &position, buffer.count)
        }
        guard let response else { throw Failure(text: "the stapled answer cannot be read") }
        defer { OCSP_RESPONSE_free(response) }
        let status = OCSP_response_status(response)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
            let name = OCSP_response_status_str(Int(status)).map { String(cString: $0) } ?? "?"
            throw Failure(text: "the stapled answer is an error: \(name)")
        }
        guard let basic = OCSP_response_get1_basic(response) else {
            throw Failure(text: "the stapled answer cannot be read")
        }
        defer { OCSP_BASICRESP_free(basic) }
        let answer = StapledAnswer(basic: basic, leaf: leaf, issuer: issuer, time: time)
        try answer.checkSignature()
        try answer.checkStatus()
    }

    /// The signer is the issuer of the certificate, or holds a certificate of that issuer for this purpose (RFC 6960,
    /// section 4.2.2.2).
    private func checkSignature() throws(Failure) {
        let known = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(known) }
        OPENSSL_sk_push(known, UnsafeRawPointer(issuer.raw))
        var signer: OpaquePointer?
        guard OCSP_resp_get0_signer(basic, &signer, known) == 1, let signer else {
            throw Failure(text: "the stapled answer's signer is unknown")
        }
        guard X509_cmp(signer, issuer.raw) == 0 || isDelegate(X509Certificate(sharing: signer)) else {
            throw Failure(text: "the stapled answer's signer may not answer for the issuer of the certificate")
        }
        guard CTLS_is_cheap(signer) == 1, OCSP_basic_verify(basic, known, nil, UInt(OCSP_NOVERIFY)) == 1 else {
            throw Failure(text: "the stapled answer's signature is not valid")
        }
    }

    private func isDelegate(_ signer: X509Certificate) -> Bool {
        guard X509_get_extension_flags(signer.raw) & UInt32(EXFLAG_XKUSAGE) != 0,
            X509_get_extended_key_usage(signer.raw) & UInt32(XKU_OCSP_SIGN) != 0
        else { return false }
        return ASN1_TIME_cmp_time_t(X509_get0_notBefore(signer.raw), time + StapledAnswer.skewSeconds) <= 0
            && ASN1_TIME_cmp_time_t(X509_get0_notAfter(signer.raw), time - StapledAnswer.skewSeconds) >= 0
            && issuer.hasIssued(signer)
    }

    private func checkStatus() throws(Failure) {
        guard
            let single = (0..<min(OCSP_resp_count(basic), Int32(StapledAnswer.maximumCertificates)))
                .lazy.compactMap({ OCSP_resp_get0(basic, $0) }).first(where: isAboutLeaf)
        else { throw Failure(text: "the stapled answer is about another certificate") }
        var reason: Int32 = -1
        var thisUpdate: UnsafeMutablePointer<ASN1_STRING>?
        var nextUpdate: UnsafeMutablePointer<ASN1_STRING>?
        let status = OCSP_single_get0_status(single, &reason, nil, &thisUpdate, &nextUpdate)
        try checkTime(thisUpdate, nextUpdate)
        switch status {
        case V_OCSP_CERTSTATUS_GOOD: return
        case V_OCSP_CERTSTATUS_REVOKED:
            let why = reason < 0 ? "" : OCSP_crl_reason_str(Int(reason)).map { " (\(String(cString: $0)))" } ?? ""
            throw Failure(text: "the stapled answer says that the certificate was revoked\(why)")
        default: throw Failure(text: "the stapled answer says that the certificate is unknown")
        }
    }

    private func isAboutLeaf(_ single: OpaquePointer) -> Bool {
        var algorithm: OpaquePointer?
        guard let id = OCSP_SINGLERESP_get0_id(single), OCSP_id_get0_info(nil, &algorithm, nil, nil, id) == 1,
            let name = OBJ_nid2sn(OBJ_obj2nid(algorithm)), let digest = EVP_get_digestbyname(name),
            let own = OCSP_cert_to_id(digest, leaf.raw, issuer.raw)
        else { return false }
        defer { OCSP_CERTID_free(own) }
        return OCSP_id_cmp(own, id) == 0
    }

    private func checkTime(
        _ thisUpdate: UnsafeMutablePointer<ASN1_STRING>?, _ nextUpdate: UnsafeMutablePointer<ASN1_STRING>?
    ) throws(Failure) {
        let skew = StapledAnswer.skewSeconds
        // -2 is an error: the text is no time.
        guard let thisUpdate, ASN1_GENERALIZEDTIME_check(thisUpdate) == 1,
            ASN1_TIME_cmp_time_t(thisUpdate, time + skew) != 1
        else { throw Failure(text: "the stapled answer is not yet valid") }
        let isOld =
            if let nextUpdate {
                ASN1_TIME_cmp_time_t(nextUpdate, time - skew) < 0 || ASN1_TIME_compare(nextUpdate, thisUpdate) < 0
            } else {
                ASN1_TIME_cmp_time_t(thisUpdate, time - StapledAnswer.maximumAgeSeconds) < 0
            }
        if isOld { throw Failure(text: "the stapled answer has expired") }
    }
}
