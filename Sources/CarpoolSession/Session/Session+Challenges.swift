internal import CarpoolHTTP

/// A challenge about which a decider is asked.
struct ChallengeQuestion {
    let challenges: [ChallengeList.Challenge]
    let server: ChallengingServer
    let origin: Origin
    let failures: Int
    let sent: TransportRequest
    let head: ResponseHead
}

// Challenges that a decider answers.
extension Session {
    /// Asks a decider that may answer later. The body of the response waits, because it may become the final one.
    /// Returns whether it was asked.
    func ask(_ decider: ChallengeDecider, _ question: ChallengeQuestion, of request: Request) -> Bool {
        let authentication = authentication(of: request)
        guard authentication.questions < ChallengeDecider.maximumQuestions,
            let best = ChallengeCandidate.any(of: question.challenges, question.sent.body)
        else { return false }
        authentication.questions += 1
        request.machine.pauseReasons.insert(.redirect)
        let generation = request.machine.nextGeneration()
        let challenge = best.shown(
            of: question.origin, question.server, previousFailureCount: question.failures)
        let subject = ChallengeDecider.Subject(session: name, request: request.id, attempt: request.attempts.count)
        decider.decide(subject, about: challenge) { [self] result in
            guard request.machine.isCurrent(generation), request.machine.pauseReasons.contains(.redirect) else {
                return
            }
            request.machine.pauseReasons.remove(.redirect)
            carryOut(result, question, for: request)
            proceed(request)
        }
        return true
    }

    private func carryOut(
        _ result: Result<ChallengeDecider.Disposition, SessionError>, _ question: ChallengeQuestion,
        for request: Request
    ) {
        switch result {
        case .failure(let error):
            request.redirection = .fail(error)
            return
        case .success(.useCredential(let credential)):
            authentication(of: request)[question.server].chosen = (credential, question.origin)
            if answer(question, for: request) { return }
        case .success(.performDefault):
            if answer(question, for: request) { return }
        case .success(.reject): break
        }
        accept(question.head, for: request)
    }

    /// Answers a challenge with the credential that there is, unless the server has just refused it.
    private func answer(_ question: ChallengeQuestion, for request: Request) -> Bool {
        guard let best = best(of: question.challenges, question.server, question.sent, request) else { return false }
        let refused = question.failures > 0 ? request.authentication?[question.server].sent.answer?.credential : nil
        guard best.credential != refused else { return false }
        return answer(best, of: question.server, at: question.origin, with: question.sent, for: request)
    }
}
