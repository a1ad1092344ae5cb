internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Asks a client how a challenge is answered.
struct CallbackAuthenticator {
    private let callback: CallbackEndpoint

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    /// The decider of a request.
    var decider: ChallengeDecider {
        ChallengeDecider { subject, challenge, completion in ask(subject, challenge, completion) }
    }

    private func ask(
        _ subject: ChallengeDecider.Subject, _ challenge: AuthenticationChallenge,
        _ completion: @escaping (Result<ChallengeDecider.Disposition, SessionError>) -> Void
    ) {
        let name = callback.specification.name
        callback.ask("callback.authenticate", about: subject) { writer, _ in
            CallbackAuthenticator.write(challenge, to: &writer)
        } read: { (answer) throws(JSONError) -> Result<ChallengeDecider.Disposition, SessionError> in
            try CallbackAuthenticator.disposition(answer, of: name)
        } completion: { result in
            switch (result, callback.specification.fallback) {
            case (.failure, .performDefault): completion(.success(.performDefault))
            case (.failure, .reject): completion(.success(.reject))
            default: completion(result.flatMap { $0 })
            }
        }
    }

    private static func write(_ challenge: AuthenticationChallenge, to writer: inout JSONWriter) {
        let isBracketed = challenge.host.hasPrefix("[")
        writer.member("host", isBracketed ? String(challenge.host.dropFirst().dropLast()) : challenge.host)
        writer.member("port", challenge.port)
        writer.member("realm", challenge.realm.map { TruncatedText.of($0, bytes: realmBytes) })
        writer.member("scheme", challenge.method == .digest ? "digest" : "basic")
        if challenge.isOfProxy { writer.member("proxy", true) }
        writer.member("previous_failure_count", challenge.previousFailureCount)
    }

    /// The most bytes of a realm in a question.
    private static let realmBytes = 1_024

    private static func disposition(
        _ answer: JSON, of name: String
    ) throws(JSONError) -> Result<ChallengeDecider.Disposition, SessionError> {
        guard let given = answer["credential"] else {
            switch answer["action"]?.string {
            case "default": return .success(.performDefault)
            case "cancel":
                let message = answer["message"]?.string ?? "the client has cancelled the authentication"
                return .failure(.clientRefused(name, message: message))
            default: return .success(.reject)
            }
        }
        do throws(RPCError) {
            let reader = CredentialReader(passwords: .texts)
            return .success(.useCredential(try reader.credential({ given[$0] }, path: "result.credential")))
        } catch {
            throw .refused(error.message, path: "result.credential", expected: "a user and a password")
        }
    }
}
