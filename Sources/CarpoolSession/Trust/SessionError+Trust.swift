internal import CarpoolHTTP

extension SessionError {
    /// An evaluator has refused the server (session model 1800 to 1812).
    static func serverTrustEvaluationFailed(_ failure: ServerTrustFailure, details: [Detail]) -> SessionError {
        var own = [Detail("host", .string(failure.host))]
        if let evaluator = failure.evaluator { own.append(Detail("evaluator", .string(evaluator))) }
        if let output = failure.output { own.append(Detail("output", .string(output))) }
        if !failure.pins.isEmpty { own.append(Detail("pins", .strings(failure.pins))) }
        if !failure.presentedKeys.isEmpty {
            own.append(Detail("presented_keys", .strings(failure.presentedKeys)))
            own.append(Detail("presented_certificates", .strings(failure.presentedCertificates)))
        }
        return SessionError(
            "server_trust_evaluation_failed.\(failure.reason.rawValue)", failure.description,
            hint: hint(for: failure), details: own + details)
    }

    /// What the server has presented, in the form of pins; the first ones, since a chain is short.
    private static func pinningHint(_ presented: [String]) -> String {
        let shown = presented.prefix(4).joined(separator: ", ")
        return "the server has presented \(shown); if its key has changed as planned, pin one of these"
    }

    private static func hint(for failure: ServerTrustFailure) -> String? {
        let text = failure.output ?? ""
        if text.contains("too weak") {
            return "set tls.ciphers (--ciphers) to DEFAULT@SECLEVEL=0 to accept weak keys and signatures"
        }
        return switch failure.reason {
        case .noRequiredEvaluator:
            "add an evaluator for this host to trust.evaluators, or set trust.all_hosts_must_be_evaluated to false"
        case .noCertificatesFound: "add certificates to files or pem of the evaluator"
        case .noPublicKeysFound: "add pins, files or pem to the evaluator"
        case .trustEvaluationFailed where text.contains("expired") || text.contains("not yet valid"): datesHint
        case .trustEvaluationFailed: "set trust.ca_file (--cacert) to the file of the certificate authority"
        case .publicKeyPinningFailed: pinningHint(failure.presentedKeys)
        case .certificatePinningFailed: pinningHint(failure.presentedCertificates)
        case .hostValidationFailed: otherHostHint
        case .revocationCheckFailed where text.contains("revoked"):
            "do not trust this server: its authority has withdrawn the certificate"
        case .revocationCheckFailed where text.contains("stapled no answer"):
            "the server must send an OCSP answer (nginx: ssl_stapling); without staple \"require\" (--cert-status) none is needed"
        case .revocationCheckFailed:
            "give a revocation list of the certificate's authority that has not expired: crl_file of the evaluator (--crlfile)"
        case .customEvaluationFailed where text.hasPrefix("the callback "):
            "a client must have declared this name (register in Python), and answer callback.trust within deadline_ms"
        case .customEvaluationFailed: nil
        }
    }
}
