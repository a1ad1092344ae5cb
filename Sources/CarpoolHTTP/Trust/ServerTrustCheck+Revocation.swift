internal import CTLS

/// Whether certificates were revoked.
extension ServerTrustCheck {
    func check(_ revocation: RevocationCheck, _ evaluator: ServerTrustEvaluator) throws(Stop) {
        let isVerified = revocation.performsDefaultValidation
        let chain = try chain(for: evaluator, isVerified: isVerified, validatesHost: revocation.validatesHost)
        let hasGoodAnswer = try checkStaple(revocation.staple, chain, isVerified: isVerified, evaluator)
        let leafNeedsList = revocation.requiresPositiveResponse && !hasGoodAnswer
        guard let lists = revocation.lists else {
            guard leafNeedsList else { return }
            throw failure(.revocationCheckFailed, evaluator, "no list and no stapled answer is about the certificate")
        }
        let needed = (leaf: leafNeedsList, others: revocation.requiresPositiveResponse)
        if isVerified {
            try checkVerified(chain, lists, needed, evaluator)
        } else {
            try checkPresented(lists, needed, evaluator)
        }
    }

    // MARK: Lists

    /// OpenSSL checks the lists along the chain, which was found to be valid before.
    private func checkVerified(
        _ chain: [X509Certificate], _ lists: CertificateRevocationLists, _ needed: (leaf: Bool, others: Bool),
        _ evaluator: ServerTrustEvaluator
    ) throws(Stop) {
        let last = chain.count - 1
        let anchor = chain.last.flatMap { $0.isSelfIssued ? nil : $0 }
        let absence = ListAbsence(
            of: lists, leafNeedsList: needed.leaf, othersNeedList: needed.others,
            placeWithoutIssuer: anchor == nil ? nil : last)
        if case .failure(let error) = try verify(presented, store, evaluator, (lists, absence)) {
            throw failure(.revocationCheckFailed, evaluator, error.text, verification: error.code)
        }
        // A trusted certificate that is no root: its issuer is not in the chain.
        guard let anchor, try !isInLists(anchor, lists, evaluator), last == 0, needed.leaf else { return }
        throw revocationFailure(X509_V_ERR_UNABLE_TO_GET_CRL, evaluator)
    }

    /// Checks the lists for the certificates that the server has sent.
    private func checkPresented(
        _ lists: CertificateRevocationLists, _ needed: (leaf: Bool, others: Bool), _ evaluator: ServerTrustEvaluator
    ) throws(Stop) {
        for (index, certificate) in presented.enumerated() {
            let isKnown = try isInLists(certificate, lists, evaluator)
            let isNeeded = index == 0 ? needed.leaf : needed.others && !certificate.isSelfIssued
            guard isNeeded, !isKnown else { continue }
            throw failure(.revocationCheckFailed, evaluator, "no list is about certificate \(index) of the chain")
        }
    }

    /// Whether one of the lists is about all certificates of a certificate's issuer; throws if it was revoked. The
    /// signature of a list is verified if the issuer's certificate is there; if not, the list counts nevertheless,
    /// since it is the caller's.
    private func isInLists(
        _ certificate: X509Certificate, _ lists: CertificateRevocationLists, _ evaluator: ServerTrustEvaluator
    ) throws(Stop) -> Bool {
        let own = lists.lists(about: certificate.raw)
        guard !own.isEmpty else { return false }
        let current = own.filter { isCurrent($0) }
        guard !current.isEmpty else { throw revocationFailure(X509_V_ERR_CRL_HAS_EXPIRED, evaluator) }
        var genuine = current
        if let issuer = try issuer(of: certificate, evaluator) {
            try spend(current.count * issuer.signatureCost + lists.hashCost, evaluator)
            genuine = current.filter { X509_CRL_verify($0, X509_get0_pubkey(issuer.raw)) == 1 }
            ERR_clear_error()
        }
        guard !genuine.isEmpty else { throw revocationFailure(X509_V_ERR_CRL_SIGNATURE_FAILURE, evaluator) }
        var entry: OpaquePointer?
        if genuine.contains(where: { X509_CRL_get0_by_cert($0, &entry, certificate.raw) == 1 }) {
            throw revocationFailure(X509_V_ERR_CERT_REVOKED, evaluator)
        }
        return genuine.contains { lists.isWhole($0) }
    }

    private func isCurrent(_ list: OpaquePointer) -> Bool {
        guard let start = X509_CRL_get0_lastUpdate(list), ASN1_TIME_cmp_time_t(start, time) <= 0 else { return false }
        return X509_CRL_get0_nextUpdate(list).map { ASN1_TIME_cmp_time_t($0, time) >= 0 } ?? true
    }

    private func revocationFailure(_ code: Int32, _ evaluator: ServerTrustEvaluator) -> Stop {
        let text = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error"
        return failure(.revocationCheckFailed, evaluator, "error \(code): \(text)", verification: code)
    }

    // MARK: The stapled answer

    /// Whether the server has sent an answer that says that its certificate is good; throws for any other answer.
    private func checkStaple(
        _ policy: RevocationCheck.Staple, _ chain: [X509Certificate], isVerified: Bool,
        _ evaluator: ServerTrustEvaluator
    ) throws(Stop) -> Bool {
        guard policy != .ignore else { return false }
        guard let staple, !staple.isEmpty else {
            if policy == .check { return false }
            throw failure(.revocationCheckFailed, evaluator, "the server has stapled no answer")
        }
        // The signature is verified against the issuer in the chain that was built. Without one it is the certificate
        // that has signed the server's.
        let known = isVerified && chain.count > 1 ? chain[1] : try issuer(of: leaf, evaluator)
        guard let known else {
            throw failure(.revocationCheckFailed, evaluator, "the stapled answer's issuer is unknown")
        }
        try spend(2 * known.signatureCost + StapledAnswer.delegateCost, evaluator)
        do throws(StapledAnswer.Failure) {
            try StapledAnswer.check(staple, leaf: leaf, issuer: known, time: time)
        } catch {
            throw failure(.revocationCheckFailed, evaluator, error.text)
        }
        return true
    }

    /// The certificate that has issued another one: an authority, or one that the server has sent.
    private func issuer(
        of certificate: X509Certificate, _ evaluator: ServerTrustEvaluator
    ) throws(Stop) -> X509Certificate? {
        for candidate in [store.issuer(of: certificate)].compactMap({ $0 }) + presented {
            guard X509_check_issued(candidate.raw, certificate.raw) == X509_V_OK else { continue }
            try spend(candidate.signatureCost, evaluator)
            if candidate.hasIssued(certificate) { return candidate }
        }
        return nil
    }
}

extension X509Certificate {
    /// Whether it names itself as its issuer.
    fileprivate var isSelfIssued: Bool { X509_NAME_cmp(X509_get_issuer_name(raw), X509_get_subject_name(raw)) == 0 }
}
