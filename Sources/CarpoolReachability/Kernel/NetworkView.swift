internal import CarpoolSystem

/// The state of the network, which can be queried at any time without sending a packet.
protocol NetworkView: AnyObject {
    /// All interfaces and addresses.
    func interfaces() throws(SystemError) -> (links: [NetworkLink], addresses: [InterfaceAddress])
    /// The route that a packet to an address would take, through an interface if there is one.
    func route(to address: IPAddress, interface: Int?) throws(SystemError) -> RouteAnswer
}
