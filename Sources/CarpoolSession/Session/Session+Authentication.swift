internal import CarpoolHTTP

// Authentication with a user and a password (§2.10): a challenge is answered by another hop of the same task.
extension Session {
    /// The fields of a hop: answers to challenges, or what is known to be accepted, and the cookies; `nil` for none.
    /// The hop before may have had others, and this one may go elsewhere.
    func hopFields(for hop: TransportRequest, of request: Request) -> HopFields? {
        let cookie = cookieField(for: hop, of: request)
        let hasProxy = hop.partition.proxy != nil
        guard
            request.parameters.credential != nil || request.parameters.credentials != nil
                || request.authentication != nil || !credentials.entries.isEmpty || hasProxy
        else {
            guard cookie != nil else { return nil }
            return HopFields(
                authorization: nil, proxyAuthorization: nil, cookie: cookie,
                cookiePlace: request.parameters.cookies?.place)
        }
        return HopFields(
            authorization: answer(to: .origin, for: hop, of: request),
            proxyAuthorization: hasProxy ? answer(to: .proxy, for: hop, of: request) : nil, cookie: cookie,
            cookiePlace: request.parameters.cookies?.place)
    }

    private func answer(
        to server: ChallengingServer, for hop: TransportRequest, of request: Request
    ) -> [UInt8]? {
        let pending = request.authentication?[server].pending
        request.authentication?[server].pending = nil
        request.authentication?[server].sent = .nothing
        guard let origin = server.origin(for: hop), mayAuthenticate(at: server, hop) else { return nil }
        if let pending, pending.server == origin, let answer = pending.sent.answer {
            request.authentication?[server].sent = pending.sent
            return value(of: answer, for: hop)
        }
        guard let answer = unaskedAnswer(to: server, at: origin, for: hop, of: request) else { return nil }
        authentication(of: request)[server].sent = .unasked(answer)
        return value(of: answer, for: hop)
    }

    /// How a request has authenticated, from now on.
    func authentication(of request: Request) -> RequestAuthentication {
        if let known = request.authentication { return known }
        let made = RequestAuthentication()
        request.authentication = made
        return made
    }

    private func value(of answer: RequestAuthentication.Answer, for hop: TransportRequest) -> [UInt8]? {
        switch answer {
        case .basic(let credential, _): Array(credential.basicValue.utf8)
        case .digest(let session):
            session.value(method: hop.method.rawValue, target: hop.url.requestTarget, body: hop.body)
        }
    }

    /// Handles a response that asks for a credential. Returns whether the challenge is answered by another hop, or
    /// decided later.
    func answerChallenge(
        of server: ChallengingServer, _ head: ResponseHead, to sent: TransportRequest, for request: Request
    ) -> Bool {
        let sent = request.authentication?.withheld ?? sent
        let challenges = ChallengeList.parse(head.fields.allBytes(server.challengeField))
        let isOpen = mayAuthenticate(at: server, sent)
        let best = isOpen ? best(of: challenges, server, sent, request) : nil
        if isOpen { noteOffers(challenges, best, at: server, sent, request) }
        let origin = server.origin(for: sent)
        let isCounted = countFailure(best, at: server, origin ?? sent.url.origin, of: request)
        let failures = request.authentication?[server].failures ?? 0
        let decider = isOpen ? request.parameters.challengeDecider : nil
        let seen = best ?? decider.flatMap { _ in ChallengeCandidate.any(of: challenges, sent.body) }
        let shown = seen?.shown(of: origin ?? sent.url.origin, server, previousFailureCount: failures)
        if let challenge = shown ?? AuthenticationChallenge(head, to: sent) {
            notify(.taskDidReceiveChallenge(challenge), of: request)
        }
        guard isOpen, let origin, canSendAgain(sent, request), request.state != .cancelled else { return false }
        if isCounted, let decider {
            let question = ChallengeQuestion(
                challenges: challenges, server: server, origin: origin, failures: failures, sent: sent, head: head)
            if ask(decider, question, of: request) { return true }
        }
        guard failures == 0, let best else { return false }
        return answer(best, of: server, at: origin, with: sent, for: request)
    }

    /// Records the schemes of a server that offers none which the credential for it can use.
    private func noteOffers(
        _ challenges: [ChallengeList.Challenge], _ best: ChallengeCandidate?, at server: ChallengingServer,
        _ sent: TransportRequest, _ request: Request
    ) {
        let isUnused =
            best == nil
            && challenges.contains { credential(for: $0.realm, at: server, for: sent, of: request) != nil }
        guard isUnused else {
            request.authentication?.unusedOffers = []
            return
        }
        var offers: [String] = []
        for challenge in challenges.prefix(Session.shownOffers) where !offers.contains(challenge.offer) {
            offers.append(challenge.offer)
        }
        authentication(of: request).unusedOffers = offers
    }

    /// Maximum number of a server's schemes in a warning.
    private static let shownOffers = 8

    /// Answers a challenge with another hop. Returns whether that is possible.
    func answer(
        _ candidate: ChallengeCandidate, of server: ChallengingServer, at origin: Origin, with sent: TransportRequest,
        for request: Request
    ) -> Bool {
        guard let answer = candidate.answer() else { return false }
        let authentication = authentication(of: request)
        do throws(SessionError) {
            let isAnswered = try authentication.dialogue.answers(
                server, at: origin, realm: candidate.realm, isStale: authentication.isStale(candidate, at: server),
                isChosen: authentication[server].chosen != nil, answered: request.machine.hops.challenges)
            guard isAnswered else { return false }
        } catch {
            request.redirection = .fail(error)
            return true
        }
        authentication[server].pending = (.answer(answer), origin)
        authentication.keepAnswer(at: server.other, sent)
        request.redirection = .follow(sent)
        return true
    }

    private func canSendAgain(_ sent: TransportRequest, _ request: Request) -> Bool {
        // A request without default fields stands for a program that fails then, instead of showing the challenge.
        sent.body.canBeSent || request.parameters.uploadable?.canRepeat == true || !request.parameters.hasDefaultFields
    }

    /// Counts a credential that was refused. An old nonce, one of another task, and another realm that has another
    /// credential say nothing about it. Returns whether the challenge is a new question: a credential was refused, or
    /// none was sent.
    private func countFailure(
        _ next: ChallengeCandidate?, at server: ChallengingServer, _ origin: Origin, of request: Request
    ) -> Bool {
        guard let authentication = request.authentication, let answer = authentication[server].sent.answer else {
            return true
        }
        if let next {
            let isRepeatable = authentication.dialogue.answersStale(of: server, at: origin, realm: next.realm)
            if authentication.isStale(next, at: server), isRepeatable { return false }
            if next.realm != answer.realm, next.credential != answer.credential { return false }
        }
        knownSpaces.forget(answer, at: origin)
        switch authentication[server].sent {
        case .unasked(.digest): return false
        case .unasked(.basic) where next?.digest != nil: return false
        default:
            authentication[server].failures += 1
            return true
        }
    }

    /// A response is no challenge of a server: the credential, if one was sent there, was accepted.
    func acceptedCredential(
        at server: ChallengingServer, _ head: ResponseHead, to sent: TransportRequest, for request: Request
    ) {
        guard let progress = request.authentication?[server], let answer = progress.sent.answer,
            let origin = server.origin(for: sent)
        else { return }
        if case .digest(let session) = answer,
            let information = head.fields.allBytes(server.informationField).first.flatMap({
                ChallengeList.parse("Digest ".utf8 + $0).first
            }), let nonce = information.parameters.first(where: { $0.name == "nextnonce" })?.bytes
        {
            session.use(nextNonce: nonce)
        }
        if case .unasked = progress.sent { return }
        // Without default fields nothing is sent that the caller did not ask for: each request waits for a challenge.
        guard request.parameters.hasDefaultFields else { return }
        knownSpaces.remember(answer, at: origin, sent.url.requestTarget)
    }

    /// The strongest challenge that can be answered.
    func best(
        of challenges: [ChallengeList.Challenge], _ server: ChallengingServer, _ sent: TransportRequest,
        _ request: Request
    ) -> ChallengeCandidate? {
        ChallengeCandidate.strongest(of: challenges) { challenge in
            credential(for: challenge.realm, at: server, for: sent, of: request)
                .flatMap { ChallengeCandidate(challenge, $0, sent.body) }
        }
    }
}
