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

    var realm: String { challenge.realm }

    /// The stronger one has the higher number; Basic has 0.
    var strength: Int { digest?.algorithm.strength ?? 0 }

    /// The answer; `nil` if OpenSSL does not allow the hash.
    func answer() -> RequestAuthentication.Answer? {
        guard let digest else { return .basic(credential, realm: realm) }
        return DigestSession(digest, credential).map { .digest($0) }
    }
}
