/// What makes a connection unshareable: two requests may use one connection only if their partitions are equal.
public struct ConnectionPartition: Hashable, Sendable {
    /// How the server's certificate is judged.
    public enum Trust: Hashable, Sendable {
        /// The system's store of certificate authorities.
        case system
        /// The authorities in one PEM file, and no others. A file whose content has changed is another partition.
        case authorities(TrustedAuthorities)
        /// Not at all. Only on somebody's explicit request.
        case none
    }

    /// How the server's certificate is judged.
    public var trust: Trust = .system
    /// The user for whom the connection is made; `nil` for the process's own user. Users share neither connections nor TLS sessions nor
    /// looked-up names: each of the three would show one user what another does.
    public var user: UInt32?

    /// The common partition: the system's trust, the process's own user.
    public init(trust: Trust = .system, user: UInt32? = nil) {
        self.trust = trust
        self.user = user
    }
}
