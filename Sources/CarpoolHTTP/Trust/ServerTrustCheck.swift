internal import CTLS
internal import CarpoolSystem
internal import Glibc

/// Evaluates the chain of one server. Builds a chain once for all evaluators that need it.
final class ServerTrustCheck {
    /// What follows from the evaluation.
    enum Verdict {
        case accepted
        case refused(ServerTrustFailure)
        /// A caller has to decide first.
        case asks(CustomTrust)
    }

    /// What ends the evaluation before its end.
    enum Stop: Error {
        case refused(ServerTrustFailure)
        case asks(CustomTrust)
    }

    /// The host, an IPv6 address without brackets.
    let host: String
    /// The certificates that the server has sent, its own first.
    let presented: [X509Certificate]
    let leaf: X509Certificate
    let store: TrustStore
    let securityLevel: Int32
    /// The answer of an OCSP responder that the server has sent.
    let staple: [UInt8]?
    /// The callers that have accepted this chain.
    let accepted: Set<CustomTrust>
    /// The time of the evaluation, in seconds since 1970.
    let time: Int
    /// The chains that were built, by their authorities.
    private var built: [ObjectIdentifier: Result<[X509Certificate], ChainVerification.Failure>] = [:]
    /// How much of the time is left, in tenths of a millisecond.
    private var left = ServerTrustCheck.maximumCost

    /// About the most time that one handshake may spend on signatures and names, since it is one step for the loop.
    /// What has begun is completed: a chain with its lists takes 22 ms at most.
    private static let maximumCost = 250

    /// - Parameter presented: at least one certificate.
    init?(
        host: String, presented: [X509Certificate], store: TrustStore, securityLevel: Int32, staple: [UInt8]? = nil,
        accepted: Set<CustomTrust> = [], time: Int? = nil
    ) {
        guard let leaf = presented.first else { return nil }
        self.host = host
        self.presented = presented
        self.leaf = leaf
        self.store = store
        self.securityLevel = securityLevel
        self.staple = staple
        self.accepted = accepted
        self.time = time ?? Int(WallClock.microseconds() / 1_000_000)
    }

    /// Evaluates the chain.
    func evaluate(_ evaluator: ServerTrustEvaluator) -> Verdict {
        do throws(Stop) {
            try check(evaluator)
            return .accepted
        } catch {
            switch error {
            case .refused(let failure): return .refused(failure)
            case .asks(let custom): return .asks(custom)
            }
        }
    }

    private func check(_ evaluator: ServerTrustEvaluator) throws(Stop) {
        switch evaluator {
        case .standard(let validatesHost):
            _ = try chain(for: evaluator, isVerified: true, validatesHost: validatesHost)
        case .revocation(let revocation): try check(revocation, evaluator)
        case .pinnedCertificates(let pins): try check(pins, evaluator)
        case .publicKeys(let pins): try check(pins, evaluator)
        case .composite(let parts):
            // Without parts there is nothing that could have been checked.
            guard !parts.isEmpty, evaluator.count <= ServerTrustEvaluator.maximumCount else {
                throw failure(.noRequiredEvaluator, evaluator)
            }
            for part in parts { try check(part) }
        case .disabled: return
        case .missing: throw failure(.noRequiredEvaluator, evaluator)
        case .custom(let custom): if !accepted.contains(custom) { throw .asks(custom) }
        }
    }

    private func check(_ pins: CertificatePins, _ evaluator: ServerTrustEvaluator) throws(Stop) {
        guard !pins.certificates.isEmpty else { throw failure(.noCertificatesFound, evaluator) }
        guard pins.anchors != nil || !pins.acceptsSelfSigned else {
            throw failure(.trustEvaluationFailed, evaluator, "out of memory")
        }
        let chain = try chain(
            for: evaluator, isVerified: pins.performsDefaultValidation, validatesHost: pins.validatesHost,
            anchors: pins.anchors)
        guard pins.match(chain) else {
            throw failure(.certificatePinningFailed, evaluator, pins: pins.certificates.map(\.digest))
        }
    }

    private func check(_ pins: PublicKeyPins, _ evaluator: ServerTrustEvaluator) throws(Stop) {
        guard !pins.keys.isEmpty else { throw failure(.noPublicKeysFound, evaluator) }
        let chain = try chain(
            for: evaluator, isVerified: pins.performsDefaultValidation, validatesHost: pins.validatesHost)
        guard pins.match(chain) else {
            throw failure(.publicKeyPinningFailed, evaluator, pins: pins.keys.map(\.description))
        }
    }

    // MARK: Parts that evaluators share

    /// The chain whose certificates count: the one that was built if it is verified, since a server may append any
    /// certificate to what it sends; otherwise the one that was sent.
    func chain(
        for evaluator: ServerTrustEvaluator, isVerified: Bool, validatesHost: Bool, anchors: TrustStore? = nil
    ) throws(Stop) -> [X509Certificate] {
        let chain = isVerified ? try verifiedChain(anchors, evaluator) : presented
        if validatesHost, !leaf.isValid(forHost: host) {
            throw failure(.hostValidationFailed, evaluator, "the certificate does not name \(host)", verification: 1)
        }
        return chain
    }

    private func verifiedChain(
        _ anchors: TrustStore?, _ evaluator: ServerTrustEvaluator
    ) throws(Stop) -> [X509Certificate] {
        let authorities = anchors ?? store
        let key = ObjectIdentifier(authorities)
        var result = built[key]
        if result == nil, anchors != nil {
            // A pinned certificate of the server itself is all of the chain, but OpenSSL would judge what the server
            // sends above it. So first without that.
            let short = try verify([], authorities, evaluator)
            if case .success = short { result = short }
        }
        let final = if let result { result } else { try verify(presented, authorities, evaluator) }
        built[key] = final
        switch final {
        case .success(let chain): return chain
        case .failure(let error): throw failure(.trustEvaluationFailed, evaluator, error.text, verification: error.code)
        }
    }

    /// Builds and verifies a chain.
    func verify(
        _ untrusted: [X509Certificate], _ authorities: TrustStore, _ evaluator: ServerTrustEvaluator,
        _ revocation: (lists: CertificateRevocationLists, absence: ListAbsence)? = nil
    ) throws(Stop) -> Result<[X509Certificate], ChainVerification.Failure> {
        try spend(1, evaluator)
        let result = ChainVerification(
            leaf: leaf, untrusted: untrusted, store: authorities, securityLevel: securityLevel, time: time,
            revocation: revocation
        ).verify()
        var (signers, names) = (presented, 0)
        if case .success(let chain) = result {
            signers = Array(chain.dropFirst())
            names = CertificateStack.nameCost(of: chain)
        }
        let cost = signers.reduce(names) { $0 + $1.signatureCost }
        try spend(revocation.map { 2 * cost + $0.lists.hashCost } ?? cost, evaluator)
        return result
    }

    /// OpenSSL's result for the chain without authorities: that of a connection whose chain is not verified.
    var resultWithoutAuthorities: Int32 {
        guard let none = TrustStore([]), case .failure(let error)? = try? verify(presented, none, .disabled) else {
            return 0
        }
        return error.code
    }

    /// Counts time, in tenths of a millisecond.
    func spend(_ cost: Int, _ evaluator: ServerTrustEvaluator) throws(Stop) {
        left -= cost
        guard left < 0 else { return }
        throw failure(.trustEvaluationFailed, evaluator, "the chain and its evaluators take too long to verify")
    }

    func failure(
        _ reason: ServerTrustFailure.Reason, _ evaluator: ServerTrustEvaluator, _ output: String? = nil,
        pins: [String] = [], verification: Int32 = 0
    ) -> Stop {
        .refused(
            ServerTrustFailure(
                reason, host: host, evaluator: evaluator.name, output: output, pins: pins, verification: verification,
                presented: presented))
    }
}
