internal import CarpoolHTTP

// Authentication with a user and a password (§2.10): a challenge is answered by another hop of the same task.
extension Session {
    /// The credential that a hop may use at a server; `nil` for none. A request's own is for the origin of its URL.
    private func credential(
        at server: ChallengingServer, for hop: TransportRequest, of request: Request
    ) -> PasswordCredential? {
        switch server {
        case .origin:
            guard !hop.fields.contains(where: { $0.hasName("authorization") }) else { return nil }
            if let credential = request.parameters.credential,
                request.attempts.last?.request?.url.origin == hop.url.origin
            {
                return credential
            }
            return request.parameters.credentials?.credential(for: hop.url.origin)
        case .proxy:
            // Basic alone is sent by libcurl.
            guard let proxy = hop.partition.proxy, proxy.schemes != [.basic], let known = proxy.credential,
                proxy.sharedOrigin(for: hop.url.origin) != nil
            else { return nil }
            let schemes = proxy.schemes.compactMap { PasswordCredential.Scheme(rawValue: $0.rawValue) }
            return PasswordCredential(user: known.user, password: known.password, schemes: Set(schemes))
        }
    }

    /// Sets the fields that authenticate a hop: answers to challenges, or what is known to be accepted.
    func authorize(_ hop: inout TransportRequest, for request: Request) {
        let parameters = request.parameters
        guard parameters.credential != nil || parameters.credentials != nil || hop.partition.proxy?.credential != nil
        else {
            // A hop to the proxy may have had one, and this one goes elsewhere.
            return hop.authentication = nil
        }
        hop.authentication = AuthenticationFields(
            origin: answer(to: .origin, for: hop, of: request), proxy: answer(to: .proxy, for: hop, of: request))
    }

    private func answer(
        to server: ChallengingServer, for hop: TransportRequest, of request: Request
    ) -> HTTPField? {
        let pending = request.authentication[keyPath: server.progress].pending
        request.authentication[keyPath: server.progress].pending = nil
        request.authentication[keyPath: server.progress].sent = .nothing
        guard let credential = credential(at: server, for: hop, of: request), let origin = server.origin(for: hop)
        else { return nil }
        if let pending {
            request.authentication[keyPath: server.progress].sent = .answer(pending)
            return field(pending, at: server, for: hop)
        }
        let known = knownSpaces.answer(at: origin, hop.url.requestTarget, credential)
        guard let answer = known ?? (credential.isPreemptive ? .basic(credential, realm: "") : nil) else { return nil }
        request.authentication[keyPath: server.progress].sent = .unasked(answer)
        return field(answer, at: server, for: hop)
    }

    private func field(
        _ answer: RequestAuthentication.Answer, at server: ChallengingServer, for hop: TransportRequest
    ) -> HTTPField? {
        let value: String? =
            switch answer {
            case .basic(let credential, _): credential.basicValue
            case .digest(let session):
                session.value(method: hop.method.rawValue, target: hop.url.requestTarget, body: hop.body)
            }
        return value.flatMap { server.field($0) }
    }

    /// Handles a response that asks for a credential. Returns whether the challenge is answered by another hop.
    func answerChallenge(
        of server: ChallengingServer, _ head: ResponseHead, to sent: TransportRequest, for request: Request
    ) -> Bool {
        let credential = credential(at: server, for: sent, of: request)
        let best = credential.flatMap {
            Session.best(of: head.fields.all(server.challengeField).flatMap(ChallengeList.parse), for: $0, sent.body)
        }
        let origin = server.origin(for: sent) ?? sent.url.origin
        countFailure(best?.digest, at: server, origin, of: request)
        let failures = request.authentication[keyPath: server.progress].failures
        let shown = best.flatMap { best in
            AuthenticationChallenge.Method(best.challenge.scheme).map {
                AuthenticationChallenge($0, best.challenge, of: origin, previousFailureCount: failures)
            }
        }
        if let challenge = shown ?? AuthenticationChallenge(head, to: sent) {
            notify(.taskDidReceiveChallenge(challenge), of: request)
        }
        guard failures == 0, let best, canSendAgain(sent, request), request.state != .cancelled else { return false }
        request.authentication[keyPath: server.progress].pending = best.answer
        request.authentication.challengedHops += 1
        request.redirection = .follow(sent)
        return true
    }

    private func canSendAgain(_ sent: TransportRequest, _ request: Request) -> Bool {
        sent.body.canBeSent || request.parameters.uploadable?.canRepeat == true
    }

    /// Counts a credential that was refused. An old nonce, and one of another task, say nothing about it.
    private func countFailure(
        _ next: DigestChallenge?, at server: ChallengingServer, _ origin: Origin, of request: Request
    ) {
        var progress = request.authentication[keyPath: server.progress]
        defer { request.authentication[keyPath: server.progress] = progress }
        guard let answer = progress.sent.answer else { return }
        if let next, next.isStale, case .digest = answer {
            progress.staleAnswers += 1
            if progress.staleAnswers <= RequestAuthentication.maximumStaleAnswers { return }
        }
        knownSpaces.forget(answer.credential, at: origin)
        if case .unasked(.digest) = progress.sent { return }
        if case .unasked(.basic) = progress.sent, next != nil { return }
        progress.failures += 1
    }

    /// A response is no challenge of a server: the credential, if one was sent there, was accepted.
    func acceptedCredential(
        at server: ChallengingServer, _ head: ResponseHead, to sent: TransportRequest, for request: Request
    ) {
        let progress = request.authentication[keyPath: server.progress]
        guard let answer = progress.sent.answer, let origin = server.origin(for: sent) else { return }
        if case .digest(let session) = answer,
            let information = head.fields.first(server.informationField).flatMap({
                ChallengeList.parse("Digest \($0)").first
            }), let nonce = information.parameters.first(where: { $0.name == "nextnonce" })?.value
        {
            session.use(nextNonce: nonce)
        }
        if case .unasked(.basic) = progress.sent { return }
        knownSpaces.remember(answer, at: origin, sent.url.requestTarget)
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
