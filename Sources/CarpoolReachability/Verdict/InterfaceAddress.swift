/// One address of one interface.
public struct InterfaceAddress: Hashable, Sendable {
    /// How far it counts (rtnetlink(7), `rtm_scope`).
    public enum Scope: String, Sendable {
        /// Everywhere.
        case global
        /// On one link.
        case link
        /// In this machine.
        case host
    }

    /// What the kernel lets be done with it (RFC 4862).
    public enum State: String, Sendable {
        /// Anything.
        case preferred
        /// Kept for what uses it already.
        case deprecated
        /// Nothing yet: it is not known to be the only one of its kind.
        case tentative
        /// Nothing: another machine has it.
        case duplicate
    }

    /// The number of its interface.
    public let interface: Int
    /// The address.
    public let address: IPAddress
    /// How many bits name its network.
    public let prefixLength: Int
    /// How far it counts.
    public let scope: Scope
    /// What can be done with it.
    public let state: State

    /// Makes one from its parts.
    public init(interface: Int, address: IPAddress, prefixLength: Int, scope: Scope, state: State) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
        self.scope = scope
        self.state = state
    }

    /// Whether a connection can have it as its own end.
    public var isUsable: Bool { state == .preferred || state == .deprecated }
}
