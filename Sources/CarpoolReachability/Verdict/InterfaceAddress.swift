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

    /// The state of the address (RFC 4862).
    public enum State: String, Sendable {
        /// Anything.
        case preferred
        /// Deprecated: kept for existing connections.
        case deprecated
        /// Tentative: not known to be unique yet.
        case tentative
        /// Nothing: another machine has it.
        case duplicate
    }

    /// The number of its interface.
    public let interface: Int
    /// The address.
    public let address: IPAddress
    /// The prefix length.
    public let prefixLength: Int
    /// How far it counts.
    public let scope: Scope
    /// Its state.
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
