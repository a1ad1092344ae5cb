/// A user and a password for HTTP authentication, and how they may be sent (HA-01).
///
/// An immutable object, because every copy of a request's parameters has a reference to it. Equal if the content is.
public final class PasswordCredential: Hashable, Sendable {
    /// A scheme of HTTP authentication.
    public enum Scheme: String, Sendable, CaseIterable {
        /// User and password as they are (RFC 7617).
        case basic
        /// A hash of user, password and a value of the server (RFC 7616).
        case digest
    }

    /// The user.
    public let user: String
    /// The password.
    public let password: String
    /// The schemes that may be used.
    public let schemes: Set<Scheme>
    /// Whether the credential is sent with the first request, without a challenge. Only with Basic alone (HA-05).
    public let isPreemptive: Bool

    /// Makes a credential from its parts.
    public init(user: String, password: String, schemes: Set<Scheme> = [.basic, .digest], isPreemptive: Bool = false) {
        self.user = user
        self.password = password
        self.schemes = schemes
        self.isPreemptive = isPreemptive && schemes == [.basic]
    }

    /// The value of an `Authorization` field of the Basic scheme.
    var basicValue: String { "Basic \(BasicCredential.token(user: user, password: password))" }

    /// Whether the content is the same, byte for byte: to Swift, two texts are equal that only look the same.
    public static func == (a: PasswordCredential, b: PasswordCredential) -> Bool {
        a === b
            || a.user.utf8.elementsEqual(b.user.utf8) && a.password.utf8.elementsEqual(b.password.utf8)
                && a.schemes == b.schemes && a.isPreemptive == b.isPreemptive
    }

    /// Hashes the user and the password.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(password)
    }
}
