/// The configuration in force. A reload replaces it.
final class LiveConfiguration {
    var current: ServerConfiguration
    /// The users that may connect, and their roles.
    var access: AccessPolicy
    /// The maxima in force.
    var limits: Limits { current.limits }

    init(_ configuration: ServerConfiguration, owner: UInt32) {
        current = configuration
        access = AccessPolicy(owner: owner, roles: configuration.roles)
    }

    /// The declared sessions, once: they are made of them.
    func takeSessions() -> [DeclaredSession] {
        defer { current.sessions = [] }
        return current.sessions
    }
}
