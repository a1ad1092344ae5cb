internal import CarpoolHTTP

/// A challenge, and the credential that can answer it.
struct ChallengeCandidate {
    let challenge: ChallengeList.Challenge
    /// The challenge of the Digest scheme; `nil` for Basic.
    let digest: DigestChallenge?
    let credential: PasswordCredential

    /// `nil` if the credential may not be used for the scheme, or the challenge cannot be answered for a request with
    /// this body.
    init?(_ challenge: ChallengeList.Challenge, _ credential: PasswordCredential, _ body: RequestBody) {
        if challenge.scheme == "basic" {
            guard credential.schemes.contains(.basic) else { return nil }
            digest = nil
        } else {
            guard credential.schemes.contains(.digest), let digest = DigestChallenge(challenge),
                DigestSession.canAnswer(digest, for: body)
            else { return nil }
            self.digest = digest
        }
        self.challenge = challenge
        self.credential = credential
    }

    /// The strongest challenge that some credential could answer; `nil` if there is none.
    static func any(of challenges: [ChallengeList.Challenge], _ body: RequestBody) -> ChallengeCandidate? {
        let placeholder = PasswordCredential(user: "", password: "")
        return strongest(of: challenges) { ChallengeCandidate($0, placeholder, body) }
    }

    /// The strongest of the candidates: SHA-512-256 before SHA-256 before MD5 before Basic; of equal ones the first.
    static func strongest(
        of challenges: [ChallengeList.Challenge], _ make: (ChallengeList.Challenge) -> ChallengeCandidate?
    ) -> ChallengeCandidate? {
        var best: ChallengeCandidate?
        for challenge in challenges {
            guard let candidate = make(challenge) else { continue }
            if candidate.strength > best?.strength ?? -1 { best = candidate }
        }
        return best
    }

    /// The challenge as monitors and deciders see it.
    func shown(
        of origin: Origin, _ server: ChallengingServer, previousFailureCount: Int
    ) -> AuthenticationChallenge {
        AuthenticationChallenge(
            digest == nil ? .basic : .digest, challenge, of: origin, previousFailureCount: previousFailureCount,
            isOfProxy: server == .proxy)
    }

    var realm: String { challenge.realm }

    /// The stronger one has the higher number; Basic has 0.
    var strength: Int { digest?.algorithm.strength ?? 0 }

    /// The answer; `nil` if OpenSSL does not allow the hash.
    func answer() -> RequestAuthentication.Answer? {
        guard let digest else { return .basic(credential, realm: realm) }
        return DigestSession(digest, credential).map { .digest($0) }
    }
}
