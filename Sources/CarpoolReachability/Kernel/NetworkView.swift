internal import CarpoolSystem

/// What can be asked about the network at any moment, without a packet being sent.
protocol NetworkView: AnyObject {
    /// All interfaces and addresses.
    func interfaces() throws(SystemError) -> (links: [NetworkLink], addresses: [InterfaceAddress])
    /// The route that a packet to an address would take, by an interface if one is given.
    func route(to address: IPAddress, interface: Int?) throws(SystemError) -> RouteAnswer
}
