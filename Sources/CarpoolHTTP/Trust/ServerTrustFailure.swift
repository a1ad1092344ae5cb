/// Why an evaluator has refused a server. An immutable class, since few transfers have one.
public final class ServerTrustFailure: Error, Sendable, CustomStringConvertible {
    /// The kind of failure, under the name that clients see.
    public enum Reason: String, Sendable, CaseIterable {
        /// No evaluator was given for the host.
        case noRequiredEvaluator = "no_required_evaluator"
        /// The evaluator has no pinned certificate.
        case noCertificatesFound = "no_certificates_found"
        /// The evaluator has no pinned key.
        case noPublicKeysFound = "no_public_keys_found"
        /// The chain is not valid.
        case trustEvaluationFailed = "trust_evaluation_failed"
        /// The certificate does not name the host.
        case hostValidationFailed = "host_validation_failed"
        /// A certificate was revoked, or it cannot be said that it was not.
        case revocationCheckFailed = "revocation_check_failed"
        /// No pinned certificate is in the chain.
        case certificatePinningFailed = "certificate_pinning_failed"
        /// No pinned key is in the chain.
        case publicKeyPinningFailed = "public_key_pinning_failed"
        /// The caller has refused the server.
        case customEvaluationFailed = "custom_evaluation_failed"
    }

    /// The kind of failure.
    public let reason: Reason
    /// The host, an IPv6 address without brackets.
    public let host: String
    /// The name of the evaluator; `nil` if there is none for the host.
    public let evaluator: String?
    /// More about it: OpenSSL's text if OpenSSL has one.
    public let output: String?
    /// What is pinned: SHA-256 of certificates in hexadecimal digits, or keys as `sha256//...`.
    public let pins: [String]
    /// What OpenSSL has found (`X509_V_ERR_...`): 0 for a chain that is valid, 1 if it was not asked about the host.
    let verification: Int32
    /// The certificates that the server has sent.
    private let presented: [X509Certificate]

    /// The most pins and certificates that are listed.
    private static let listed = 64

    init(
        _ reason: Reason, host: String, evaluator: String?, output: String? = nil, pins: [String] = [],
        verification: Int32 = 0, presented: [X509Certificate] = []
    ) {
        self.verification = verification
        self.reason = reason
        self.host = host
        self.evaluator = evaluator
        self.output = output
        self.pins = Array(pins.sorted().prefix(ServerTrustFailure.listed))
        self.presented = Array(presented.prefix(ServerTrustFailure.listed))
    }

    /// The keys that the server has sent, its own first, as `sha256//...`.
    public var presentedKeys: [String] { presented.map(\.publicKey.description) }

    /// The SHA-256 of the certificates that the server has sent, its own first, in hexadecimal digits.
    public var presentedCertificates: [String] { presented.map(\.digest) }

    /// The sentence for a message.
    public var description: String {
        let text =
            switch reason {
            case .noRequiredEvaluator: "there is no evaluator for \(host)"
            case .noCertificatesFound: "the evaluator for \(host) has no pinned certificate"
            case .noPublicKeysFound: "the evaluator for \(host) has no pinned public key"
            case .trustEvaluationFailed: "the certificate of \(host) is not trusted"
            case .hostValidationFailed: "the certificate is not valid for \(host)"
            case .revocationCheckFailed: "the certificate of \(host) failed the revocation check"
            case .certificatePinningFailed: "no pinned certificate is in the chain of \(host)"
            case .publicKeyPinningFailed: "no pinned public key is in the chain of \(host)"
            case .customEvaluationFailed: "the evaluation by the caller refused \(host)"
            }
        return output.map { "\(text): \($0)" } ?? text
    }
}
