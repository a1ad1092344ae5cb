/// The properties of a connection that must be equal for two requests to share it.
public struct ConnectionPartition: Hashable, Sendable {
    /// How the server's certificate is verified.
    public enum Trust: Hashable, Sendable {
        /// The system's store of certificate authorities.
        case system
        /// The authorities in one PEM file, and no others. A file whose content has changed is another partition.
        case authorities(TrustedAuthorities)
        /// No verification. Only on explicit request.
        case none
    }

    /// How the server's certificate is verified.
    public var trust: Trust = .system
    /// The user for whom the connection is made; `nil` for the process's own user. Users share neither connections
    /// nor TLS sessions nor looked-up names: each of the three would show one user what another does.
    public var user: UInt32?

    /// The common partition: the system's trust, the process's own user.
    public init(trust: Trust = .system, user: UInt32? = nil) {
        self.trust = trust
        self.user = user
    }
}
