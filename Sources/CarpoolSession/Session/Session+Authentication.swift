internal import CarpoolHTTP

// Authentication with a user and a password (§2.10): a challenge is answered by another hop of the same task.
extension Session {
    /// The credential that a hop may use; `nil` for none. A request's own is for the origin of its URL.
    private func credential(for hop: TransportRequest, of request: Request) -> PasswordCredential? {
        guard let credential = request.parameters.credential,
            let first = request.attempts.last?.request?.url.origin, first == hop.url.origin
        else { return nil }
        return credential
    }

    /// Sets the `Authorization` field of a hop: the answer to a challenge, or what is known to be accepted.
    func authorize(_ hop: inout TransportRequest, for request: Request) {
        guard request.parameters.credential != nil else { return }
        hop.authorization = nil
        request.authentication.sent = .nothing
        guard !hop.fields.contains(where: { $0.hasName("authorization") }) else { return }
        if let answer = request.authentication.pending {
            request.authentication.pending = nil
            request.authentication.sent = .answer(answer)
            hop.authorization = value(of: answer, for: hop)
        } else if let credential = credential(for: hop, of: request) {
            let known = knownSpaces.answer(for: hop.url, credential)
            guard let answer = known ?? (credential.isPreemptive ? .basic(credential, realm: "") : nil) else { return }
            request.authentication.sent = .unasked(answer)
            hop.authorization = value(of: answer, for: hop)
        }
    }

    private func value(of answer: RequestAuthentication.Answer, for hop: TransportRequest) -> HTTPField? {
        let value: String? =
            switch answer {
            case .basic(let credential, _): credential.basicValue
            case .digest(let session):
                session.value(method: hop.method.rawValue, target: hop.url.requestTarget, body: hop.body)
            }
        return value.flatMap { try? HTTPField(name: "Authorization", value: $0) }
    }

    /// Handles a response with the status 401. Returns whether the challenge is answered by another hop.
    func answerChallenge(_ head: ResponseHead, to sent: TransportRequest, for request: Request) -> Bool {
        let challenges = head.fields.all("www-authenticate").flatMap(ChallengeList.parse)
        let credential = credential(for: sent, of: request)
        let best = credential.flatMap { Session.best(of: challenges, for: $0, sent.body) }
        countFailure(best?.digest, of: request, sent.url)
        let count = request.authentication.failures
        if let challenge = best.flatMap({ best in
            AuthenticationChallenge.Method(best.challenge.scheme).map {
                AuthenticationChallenge($0, best.challenge, to: sent.url, previousFailureCount: count)
            }
        }) ?? AuthenticationChallenge(head, to: sent) {
            notify(.taskDidReceiveChallenge(challenge), of: request)
        }
        guard count == 0, let best, canSendAgain(sent, request),
            !sent.fields.contains(where: { $0.hasName("authorization") }), request.state != .cancelled
        else { return false }
        request.authentication.pending = best.answer
        request.authentication.challengedHops += 1
        request.redirection = .follow(sent)
        return true
    }

    private func canSendAgain(_ sent: TransportRequest, _ request: Request) -> Bool {
        sent.body.canBeSent || request.parameters.uploadable?.canRepeat == true
    }

    /// Counts a credential that was refused. An old nonce, and one of another task, say nothing about it.
    private func countFailure(_ next: DigestChallenge?, of request: Request, _ url: HTTPURL) {
        guard let answer = request.authentication.sent.answer else { return }
        if let next, next.isStale, case .digest = answer {
            request.authentication.staleAnswers += 1
            if request.authentication.staleAnswers <= RequestAuthentication.maximumStaleAnswers { return }
        }
        knownSpaces.forget(answer.credential, for: url)
        if case .unasked(.digest) = request.authentication.sent { return }
        if case .unasked(.basic) = request.authentication.sent, next != nil { return }
        request.authentication.failures += 1
    }

    /// A response has another status than 401: the credential, if one was sent, was accepted.
    func acceptedCredential(_ head: ResponseHead, to sent: TransportRequest, for request: Request) {
        guard let answer = request.authentication.sent.answer else { return }
        if case .digest(let session) = answer,
            let information = head.fields.first("authentication-info").flatMap({
                ChallengeList.parse("Digest \($0)").first
            }), let nonce = information.parameters.first(where: { $0.name == "nextnonce" })?.value
        {
            session.use(nextNonce: nonce)
        }
        if case .unasked(.basic) = request.authentication.sent { return }
        knownSpaces.remember(answer, for: sent.url)
    }

    private struct Candidate {
        let challenge: ChallengeList.Challenge
        let digest: DigestChallenge?
        let answer: RequestAuthentication.Answer
        let strength: Int
    }

    /// The strongest challenge that the credential can answer: SHA-256 before MD5 before Basic; of equal ones the
    /// first.
    private static func best(
        of challenges: [ChallengeList.Challenge], for credential: PasswordCredential, _ body: RequestBody
    ) -> Candidate? {
        var best: Candidate?
        for challenge in challenges {
            guard let candidate = candidate(challenge, credential, body) else { continue }
            if candidate.strength > best?.strength ?? -1 { best = candidate }
        }
        return best
    }

    private static func candidate(
        _ challenge: ChallengeList.Challenge, _ credential: PasswordCredential, _ body: RequestBody
    ) -> Candidate? {
        if challenge.scheme == "basic", credential.schemes.contains(.basic) {
            let realm = challenge.parameters.first { $0.name == "realm" }?.value ?? ""
            return Candidate(
                challenge: challenge, digest: nil, answer: .basic(credential, realm: realm), strength: 0)
        }
        guard credential.schemes.contains(.digest), let digest = DigestChallenge(challenge),
            DigestSession.canAnswer(digest, for: body), let session = DigestSession(digest, credential)
        else { return nil }
        return Candidate(
            challenge: challenge, digest: digest, answer: .digest(session), strength: digest.algorithm.strength)
    }
}
