public import CarpoolHTTP

/// Credentials, each with the servers that it is for; the first one that is for a server is used.
///
/// An immutable object, because every copy of a request's parameters has a reference to it. Equal if the content is.
public final class CredentialList: Hashable, Sendable {
    /// A credential, and the servers that it is for.
    public struct Entry: Hashable, Sendable {
        /// The host, as an ``Origin`` has it; `nil` for every host.
        public let host: String?
        /// The user, the password and how they may be sent.
        public let credential: PasswordCredential

        /// Makes an entry from its parts.
        public init(host: String?, credential: PasswordCredential) {
            self.host = host
            self.credential = credential
        }

        /// Whether the credential is for a server. A link-local address is a host only together with its zone.
        func isFor(_ origin: Origin) -> Bool { host == nil || host == origin.host && origin.zone == nil }
    }

    /// The entries, in the order in which they are tried.
    public let entries: [Entry]

    /// Makes a list from its entries.
    public init(_ entries: [Entry]) { self.entries = entries }

    /// The credential for a server; `nil` for none.
    public func credential(for origin: Origin) -> PasswordCredential? {
        entries.first { $0.isFor(origin) }?.credential
    }

    /// Whether the entries are the same.
    public static func == (a: CredentialList, b: CredentialList) -> Bool { a === b || a.entries == b.entries }

    /// Hashes the entries.
    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}
