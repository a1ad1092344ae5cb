/// The element of an interceptor that holds the credential of a session.
public protocol CredentialHolder: AnyObject {
    /// The current credential.
    var credential: OAuth2Credential? { get }
    /// Replaces or removes the credential (AI-13).
    func setCredential(_ credential: OAuth2Credential?)
}
