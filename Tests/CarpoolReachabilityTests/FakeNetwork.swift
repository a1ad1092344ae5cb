import CarpoolReachability
import CarpoolSystem

/// A machine that is built interface by interface.
struct FakeNetwork {
    static let running: UInt32 = 0x1_0043
    static let withoutCarrier: UInt32 = 0x3

    var observation = NetworkObservation()

    mutating func addLoopback() { addLink(1, "lo", flags: 0x1_0049, hardwareType: 772) }

    mutating func addLink(
        _ index: Int, _ name: String, flags: UInt32 = FakeNetwork.running, hardwareType: UInt16 = 1,
        state: NetworkLink.OperationalState = .up, kind: String? = nil, master: Int? = nil, type: InterfaceType? = nil
    ) {
        observation.links.append(
            NetworkLink(
                index: index, name: name, flags: flags, hardwareType: hardwareType, operationalState: state,
                kind: kind, master: master))
        if let type { observation.types[index] = type }
    }

    mutating func addAddress(
        _ index: Int, _ text: String, _ prefixLength: Int = 24, state: InterfaceAddress.State = .preferred
    ) {
        guard let address = IPAddress(text) else { return }
        observation.addresses.append(
            InterfaceAddress(
                interface: index, address: address, prefixLength: prefixLength,
                scope: address.isLinkLocal ? .link : .global, state: state))
    }

    /// The answer for the default route of one family.
    mutating func route(
        _ family: IPAddress.Family, by interface: Int, gateway: String? = nil, source: String? = nil
    ) {
        observation.answers[family] = [
            .route(
                KernelRoute(
                    interface: interface, gateway: gateway.flatMap { IPAddress($0) },
                    source: source.flatMap { IPAddress($0) }))
        ]
    }

    mutating func refuse(_ family: IPAddress.Family, _ code: Int32) { observation.answers[family] = [.refused(code)] }

    var snapshot: ReachabilitySnapshot { observation.evaluate() }

    /// One Ethernet interface `eth0`, number 2, with an address, a gateway and a name server.
    static var online: FakeNetwork {
        var network = FakeNetwork()
        network.addLoopback()
        network.addLink(2, "eth0")
        network.addAddress(2, "10.1.0.2")
        network.route(.v4, by: 2, gateway: "10.1.0.1", source: "10.1.0.2")
        network.refuse(.v6, 101)
        if let server = IPAddress("10.1.0.1") {
            network.observation.nameServers = [
                (server, .route(KernelRoute(interface: 2, source: IPAddress("10.1.0.2"))))
            ]
        }
        return network
    }

    /// The same with the interface switched off.
    static var offline: FakeNetwork {
        var network = FakeNetwork()
        network.addLoopback()
        network.addLink(2, "eth0", flags: 0x2, state: .down)
        network.addAddress(2, "10.1.0.2")
        network.refuse(.v4, 101)
        network.refuse(.v6, 101)
        return network
    }
}

extension ReachabilityReading {
    /// A reading at this time in milliseconds.
    static func at(_ milliseconds: Int, _ sequence: Int, _ network: FakeNetwork) -> ReachabilityReading {
        ReachabilityReading(
            sequence: sequence, generation: sequence, time: .at(milliseconds), wallTime: 0, snapshot: network.snapshot)
    }
}

extension MonotonicTime {
    static func at(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000).advanced(milliseconds: milliseconds)
    }
}
