internal import CarpoolSystem

/// What a caller has to decide about a server: asked once for all transfers that meet the same chain.
struct TrustQuestion: Hashable {
    let partition: ConnectionPartition
    let origin: Origin
    let acceptance: TrustEvaluation.Acceptance
}

/// The trust in servers.
extension CurlTransport {
    /// Whether the certificate authorities are loaded, if the transfer needs them; if not, it is queued when they are.
    func isTrustReady(for transfer: CurlTransfer) -> Bool {
        guard !transfer.deadlines.isUndecided else { return false }
        let trust = transfer.request.partition.trust
        let hasSecureProxy = transfer.request.partition.proxy?.kind == .https
        let isVerified = transfer.request.url.origin.scheme == "https" && trust.needsAuthorities
        guard hasSecureProxy || isVerified else { return true }
        guard systemTrust.isReady(for: trust.authorities) else {
            systemTrust.wait(for: trust.authorities) { [weak self, weak transfer] in
                guard let transfer else { return }
                self?.requeue(transfer)
            }
            return false
        }
        transfer.authorities = systemTrust.store(for: trust.authorities)
        return true
    }

    /// Looks at the evaluation of a server when a transfer has failed; what it says takes precedence over libcurl's
    /// result. Returns whether a caller has to decide about the server: the transfer then waits.
    func asksAboutServer(of transfer: CurlTransfer) -> Bool {
        guard transfer.failure == nil, case .running(let easy) = transfer.phase else { return false }
        if let failure = transfer.evaluations.failure {
            transfer.failure = TransportError(failure)
            return false
        }
        guard let pending = transfer.evaluations.nextQuestion() else { return false }
        detach(transfer, easy)
        transfer.phase = .new
        transfer.deadlines.asked()
        ask(pending, for: transfer)
        return true
    }

    private func ask(_ pending: TrustEvaluation.PendingQuestion, for transfer: CurlTransfer) {
        let question = TrustQuestion(
            partition: transfer.request.partition, origin: transfer.request.url.origin, acceptance: pending.acceptance)
        transfer.question = question
        if let asked = questions[question] {
            asked.transfers[transfer.id] = transfer
            return
        }
        let asked = AskedQuestion(transfer)
        questions[question] = asked
        pending.custom.decide(pending.question) { [weak self] answer in
            // A second answer to the same question has no effect.
            guard let self, questions[question] === asked else { return }
            questions[question] = nil
            // The caller may keep the completion for long.
            let transfers = asked.transfers.values.sorted { $0.id < $1.id }
            asked.transfers = [:]
            for transfer in transfers { carryOut(answer, pending.acceptance, for: transfer) }
        }
    }

    /// A transfer that waits for a caller's decision has ended. A question that is of no use to others is forgotten.
    func withdrawQuestion(of transfer: CurlTransfer) {
        guard let question = transfer.question, let asked = questions[question] else { return }
        transfer.question = nil
        asked.transfers[transfer.id] = nil
        if asked.transfers.isEmpty { questions[question] = nil }
    }

    private func carryOut(
        _ answer: CustomTrust.TrustAnswer, _ acceptance: TrustEvaluation.Acceptance, for transfer: CurlTransfer
    ) {
        transfer.deadlines.decided()
        transfer.question = nil
        switch answer {
        case .accept:
            transfer.evaluations.accept(acceptance)
            requeue(transfer)
        case .refuse(let reason):
            transfer.failure =
                transfer.failure ?? transfer.evaluations.latest.map { TransportError($0.refusal(reason)) }
            cancel(transfer)
        }
    }
}

extension CurlTransfer {
    /// Counts a TLS handshake that begins, and returns whether it is that with an HTTPS proxy: the first one of a
    /// socket.
    func beginsWithProxy() -> Bool {
        handshakes += 1
        return handshakes == 1 && request.partition.proxy?.kind == .https
    }

    /// Records the standard verification of the origin's certificate where libcurl does not report its result: behind
    /// an HTTPS proxy. Returns false if memory is out. Called from within libcurl.
    func recordsVerification(on context: UnsafeMutableRawPointer) -> Bool {
        guard request.partition.proxy?.kind == .https, evaluations.latest == nil else { return true }
        let record = VerificationRecord()
        verification = record
        return record.install(on: context)
    }

    /// Begins the evaluation of the server of a connection that is being made; false if memory is out. Called from
    /// within libcurl.
    func beginEvaluation() -> Bool {
        let origin = request.url.origin
        return evaluations.begin(
            request.partition.trust.evaluator, store: authorities, host: origin.bareHost, port: origin.port)
    }
}

/// A question that waits for its answer, and the transfers that wait with it, by their numbers.
final class AskedQuestion {
    var transfers: [Int: CurlTransfer]

    init(_ transfer: CurlTransfer) { transfers = [transfer.id: transfer] }
}
