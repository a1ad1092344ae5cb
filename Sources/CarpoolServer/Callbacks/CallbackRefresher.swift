internal import CarpoolJSON
internal import CarpoolSession
internal import CarpoolSystem

/// Asks a client for new credentials (AI-01). If the client does not answer, the refresh fails: it has no fallback.
final class CallbackRefresher: CredentialRefresher {
    private let callback: CallbackEndpoint

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        let callback = callback
        callback.ask("callback.refresh", about: session) { writer, _ in
            writer.key("credential")
            writer.beginObject()
            writer.member("access_token", credential.accessToken)
            writer.member("refresh_token", credential.refreshToken)
            if let expires = credential.expires { writer.member("expires", time: expires) }
            writer.endObject()
        } read: { (answer) throws(JSONError) -> Result<OAuth2Credential, SessionError> in
            if let refusal = callback.refusal(in: answer) { return .failure(refusal) }
            return .success(try CallbackRefresher.credential(in: answer, after: credential))
        } completion: { result in
            completion(result.flatMap { $0 })
        }
    }

    private static func credential(in answer: JSON, after old: OAuth2Credential) throws(JSONError) -> OAuth2Credential {
        let new = answer["credential"]
        guard let accessToken = new?["access_token"]?.string, !accessToken.isEmpty else {
            throw .refused("is empty", path: "result.credential.access_token", expected: "a token")
        }
        let milliseconds = new?["expires_in_ms"]?.integer
        return OAuth2Credential(
            accessToken: accessToken, refreshToken: new?["refresh_token"]?.string ?? old.refreshToken,
            expires: milliseconds.map { WallClock.microseconds() &+ $0 &* 1_000 })
    }
}
