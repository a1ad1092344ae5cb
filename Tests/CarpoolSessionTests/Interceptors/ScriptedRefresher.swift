import CarpoolSession

/// A refresher whose answers a test sends.
final class ScriptedRefresher: CredentialRefresher {
    typealias Completion = (Result<OAuth2Credential, SessionError>) -> Void

    /// The refreshes that were requested, in order.
    private(set) var asked: [OAuth2Credential] = []
    private(set) var completions: [Completion] = []
    /// Called instead of waiting for the test, if it is set.
    var atOnce: ((OAuth2Credential) -> Result<OAuth2Credential, SessionError>)?

    /// How often a first credential was requested.
    private(set) var obtained = 0
    var obtainsCredentials = false

    func obtain(for session: Session, completion: @escaping Completion) {
        obtained += 1
        completions.append(completion)
    }

    func refresh(_ credential: OAuth2Credential, for session: Session, completion: @escaping Completion) {
        asked.append(credential)
        completions.append(completion)
        if let atOnce { completion(atOnce(credential)) }
    }

    /// Answers the last call.
    func answer(_ token: String) { completions.last?(.success(OAuth2Credential(accessToken: token))) }

    /// Fails the last call.
    func fail() { completions.last?(.failure(SessionError("refresh.failed", "no"))) }
}
