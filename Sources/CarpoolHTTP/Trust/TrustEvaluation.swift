internal import CTLS

/// The evaluation of the server of one connection, in OpenSSL's callbacks.
///
/// Everything is decided when the server's certificate is verified; or, if the server was asked for the answer of an
/// OCSP responder, when that answer must have arrived. Over TLS 1.2 that is later, but still before the client sends
/// anything but its greeting.
///
/// OpenSSL's setting of the connection keeps it alive: a server may start another handshake on a pooled connection.
final class TrustEvaluation {
    /// A caller's decision to trust a chain.
    struct Acceptance: Hashable {
        let custom: CustomTrust
        /// The digests of the chain's certificates.
        let chain: [String]
    }

    /// A question for a caller, and what becomes of it if the answer is yes.
    struct PendingQuestion {
        let custom: CustomTrust
        let question: CustomTrust.Question
        let acceptance: Acceptance
    }

    private let evaluator: ServerTrustEvaluator
    private let store: TrustStore
    private let host: String
    private let port: UInt16
    private let acceptances: Set<Acceptance>
    /// Why the server was refused.
    private(set) var failure: ServerTrustFailure?
    /// The caller who has to decide about the chain before there can be a connection.
    private(set) var undecided: CustomTrust?
    /// Whether the server was accepted.
    private(set) var isAccepted = false
    /// The certificates that the server has sent, its own first.
    private(set) var presented: [X509Certificate] = []
    private var securityLevel: Int32 = 0
    /// OpenSSL's result of the verification (``VerificationResults``); 1 until there is one.
    private(set) var result = 1

    /// Makes the evaluation of one connection; `nil` if memory is out.
    /// - Parameters:
    ///   - store: the authorities; without one there are none.
    ///   - host: an IPv6 address without brackets.
    ///   - acceptances: what callers have decided before.
    init?(
        _ evaluator: ServerTrustEvaluator, store: TrustStore?, host: String, port: UInt16,
        acceptances: Set<Acceptance> = []
    ) {
        guard let store = store ?? TrustStore([]) else { return nil }
        self.evaluator = evaluator
        self.store = store
        self.host = host
        self.port = port
        self.acceptances = acceptances
    }

    /// The question for the caller who has to decide.
    var question: PendingQuestion? {
        undecided.map {
            PendingQuestion(
                custom: $0, question: CustomTrust.Question(chain: presented.map(\.der), host: host, port: port),
                acceptance: Acceptance(custom: $0, chain: presented.map(\.digest)))
        }
    }

    /// The failure if the caller has decided not to trust the server.
    func refusal(_ reason: String) -> ServerTrustFailure {
        ServerTrustFailure(
            .customEvaluationFailed, host: host, evaluator: ServerTrustEvaluator.customName, output: reason,
            presented: presented)
    }

    // MARK: In the handshake

    /// Sets up a connection, before its handshake, to be evaluated by this object; false if memory is out.
    /// - Parameter context: OpenSSL's `SSL_CTX`, with the limits of handshakes set.
    func install(on context: UnsafeMutableRawPointer) -> Bool {
        let settings = OpaquePointer(context)
        let retained = Unmanaged.passRetained(self)
        guard TrustEvaluation.place >= 0, SSL_CTX_set_ex_data(settings, TrustEvaluation.place, retained.toOpaque()) == 1
        else {
            retained.release()
            return false
        }
        SSL_CTX_set_cert_verify_callback(
            settings, { TrustEvaluation.at($1)?.didReceiveCertificates($0) == true ? 1 : 0 }, retained.toOpaque())
        if evaluator.usesStaple {
            CTLS_request_staple(
                context, { TrustEvaluation.at($1)?.didReceiveStaple($0) == true ? 1 : 0 }, retained.toOpaque())
        }
        return true
    }

    /// Where a connection's settings hold their reference to the evaluation.
    private static let place = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
        _, object, _, _, _, _ in
        if let object { Unmanaged<TrustEvaluation>.fromOpaque(object).release() }
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> TrustEvaluation? {
        context.map { Unmanaged<TrustEvaluation>.fromOpaque($0).takeUnretainedValue() }
    }

    private func didReceiveCertificates(_ verification: OpaquePointer?) -> Bool {
        let connection = X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx())
        securityLevel = connection.map { SSL_get_security_level(OpaquePointer($0)) } ?? 2
        let isShort = CTLS_is_short(verification) == 1
        presented = CertificateStack.certificates(of: X509_STORE_CTX_get0_untrusted(verification))
        let mayContinue = isShort ? evaluator.usesStaple || decide(staple: nil) : refuseLong()
        X509_STORE_CTX_set_error(verification, mayContinue ? X509_V_OK : X509_V_ERR_CERT_REJECTED)
        return mayContinue
    }

    private func didReceiveStaple(_ connection: OpaquePointer?) -> Bool {
        var bytes: UnsafePointer<UInt8>?
        let count = SSL_ctrl(connection, SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP, 0, &bytes)
        let staple = count > 0 ? Array(UnsafeBufferPointer(start: bytes, count: count)) : nil
        return decide(staple: staple)
    }

    private func decide(staple: [UInt8]?) -> Bool {
        // An error that is left behind would end the handshake when it next has to wait.
        defer { ERR_clear_error() }
        (failure, undecided, isAccepted) = (nil, nil, false)
        let chain = presented.map(\.digest)
        let check = ServerTrustCheck(
            host: host, presented: presented, store: store, securityLevel: securityLevel, staple: staple,
            accepted: Set(acceptances.filter { $0.chain == chain }.map(\.custom)))
        switch check?.evaluate(evaluator) {
        case .accepted: isAccepted = true
        case .refused(let failure): self.failure = failure
        case .asks(let custom): undecided = custom
        case nil: failure = refusal(.trustEvaluationFailed, "the server has sent no certificate")
        }
        let found = failure.map(\.verification) ?? 0
        result = Int(found == 0 && !evaluator.usesAuthorities ? check?.resultWithoutAuthorities ?? 0 : found)
        return isAccepted
    }

    private func refuseLong() -> Bool {
        isAccepted = false
        failure = refusal(.trustEvaluationFailed, "the chain is too long, or one of its keys takes too long to verify")
        return false
    }

    private func refusal(_ reason: ServerTrustFailure.Reason, _ output: String) -> ServerTrustFailure {
        ServerTrustFailure(reason, host: host, evaluator: evaluator.name, output: output, presented: presented)
    }
}
