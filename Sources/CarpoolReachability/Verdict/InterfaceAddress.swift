/// One address of one interface.
public struct InterfaceAddress: Hashable, Sendable {
    /// The scope of an address (rtnetlink(7), `rtm_scope`).
    public enum Scope: String, Sendable {
        /// Valid everywhere.
        case global
        /// Valid on one link.
        case link
        /// Valid in this machine.
        case host
    }

    /// The state of the address (RFC 4862).
    public enum State: String, Sendable {
        /// Preferred: without restrictions.
        case preferred
        /// Deprecated: kept for existing connections.
        case deprecated
        /// Tentative: not known to be unique yet.
        case tentative
        /// Duplicate: another machine has it, so it cannot be used.
        case duplicate
    }

    /// The number of its interface.
    public let interface: Int
    /// The address.
    public let address: IPAddress
    /// The prefix length.
    public let prefixLength: Int
    /// The scope.
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

    /// Whether connections can use it as their local address.
    public var isUsable: Bool { state == .preferred || state == .deprecated }
}
