import CarpoolReachability
import Testing

struct EvaluationTests {
    @Test func online() throws {
        let snapshot = FakeNetwork.online.snapshot
        #expect(snapshot.status == .satisfied && snapshot.unsatisfiedReason == nil)
        #expect(snapshot.interface?.name == "eth0" && snapshot.interface?.type == .wiredEthernet)
        #expect(snapshot.gateways == [try #require(IPAddress("10.1.0.1"))])
        #expect(snapshot.ipv4.isUsable && !snapshot.ipv6.isUsable && snapshot.ipv6.reason == .noRoute)
        #expect(snapshot.supportsDNS && !snapshot.isExpensive && snapshot.tunnel == nil)
        #expect(snapshot.modelStatus == .reachable(.ethernetOrWiFi) && snapshot.flags == .reachable)
        #expect(snapshot.interfaces.map(\.name) == ["eth0", "lo"] && !snapshot.networkID.isEmpty)
    }

    @Test func nothingIsUp() {
        #expect(FakeNetwork.offline.snapshot.unsatisfiedReason == .noInterface)
        #expect(FakeNetwork.offline.snapshot.modelStatus == .notReachable)
        #expect(FakeNetwork.offline.snapshot.networkID.isEmpty)
    }

    @Test func theKernelRoutesButTheCableIsGone() {
        for flags: UInt32 in [FakeNetwork.withoutCarrier, 0x43] {
            var network = FakeNetwork()
            network.addLink(2, "eth0", flags: flags)
            network.addAddress(2, "10.1.0.2")
            network.route(.v4, by: 2, gateway: "10.1.0.1", source: "10.1.0.2")
            #expect(network.snapshot.status == .unsatisfied && network.snapshot.unsatisfiedReason == .noCarrier)
        }
    }

    @Test(arguments: [
        (101 as Int32, UnreachableReason.noRoute), (113, .unreachable), (13, .prohibited), (22, .blackhole),
    ])
    func refusals(_ code: Int32, _ reason: UnreachableReason) {
        var network = FakeNetwork.online
        network.refuse(.v4, code)
        #expect(network.snapshot.ipv4.reason == reason)
        #expect(network.snapshot.unsatisfiedReason == reason)
    }

    @Test func whatIsMissingWithoutARoute() {
        var network = FakeNetwork()
        network.refuse(.v4, 101)
        #expect(network.snapshot.unsatisfiedReason == .noInterface)
        network.addLink(2, "eth0", flags: FakeNetwork.withoutCarrier)
        #expect(network.snapshot.unsatisfiedReason == .noCarrier)
        network.addLink(3, "eth1")
        #expect(network.snapshot.unsatisfiedReason == .noAddress)
        network.addAddress(3, "fe80::1")
        #expect(network.snapshot.unsatisfiedReason == .noAddress)
        network.addAddress(3, "10.1.0.2")
        #expect(network.snapshot.unsatisfiedReason == .noRoute)
    }

    @Test func onlyALinkLocalSource() {
        var network = FakeNetwork.online
        network.refuse(.v4, 101)
        network.route(.v6, by: 2, gateway: "fe80::1", source: "fe80::2")
        #expect(network.snapshot.unsatisfiedReason == .linkLocalOnly)
        network.route(.v6, by: 2, gateway: "fe80::1", source: "2001:db8::2")
        #expect(network.snapshot.status == .satisfied && network.snapshot.interface?.name == "eth0")
    }

    @Test func aBorrowedSource() {
        var network = FakeNetwork()
        network.addLink(2, "eth0")
        network.addLink(3, "docker0", kind: "bridge")
        network.addAddress(3, "172.17.0.1", 16)
        network.route(.v4, by: 2, gateway: nil, source: "172.17.0.1")
        #expect(network.snapshot.ipv4.isUsable && network.snapshot.ipv4.isSourceForeign)
        #expect(!FakeNetwork.online.snapshot.ipv4.isSourceForeign)
    }

    @Test func dormant() {
        var network = FakeNetwork()
        network.addLink(2, "eth0", flags: 0x3_0003, state: .dormant)
        network.addAddress(2, "10.1.0.2")
        network.route(.v4, by: 2, gateway: "10.1.0.1", source: "10.1.0.2")
        #expect(network.snapshot.status == .requiresConnection && network.snapshot.modelStatus == .notReachable)
        #expect(network.snapshot.flags == [.reachable, .connectionRequired])
    }

    @Test func modemsAndNamesThatCost() {
        var network = FakeNetwork.online
        network.observation.types[2] = .cellular
        #expect(network.snapshot.isExpensive && network.snapshot.modelStatus == .reachable(.cellular))
        #expect(network.snapshot.flags == [.reachable, .isWWAN])
        network.observation.types[2] = nil
        network.observation.expensivePatterns = ["usb*", "e*0"]
        network.observation.constrainedPatterns = ["eth?"]
        #expect(network.snapshot.isExpensive && !network.snapshot.isConstrained)
    }

    @Test func types() {
        func type(_ hardwareType: UInt16, _ name: String = "x0", kind: String? = nil, device: String? = nil)
            -> InterfaceType
        {
            .of(
                NetworkLink(index: 2, name: name, flags: FakeNetwork.running, hardwareType: hardwareType, kind: kind),
                deviceType: device, isWireless: false)
        }
        #expect(type(1) == .wiredEthernet && type(1, device: "wlan") == .wifi && type(1, device: "wwan") == .cellular)
        #expect(type(519) == .cellular && type(1, "wwan0") == .cellular && type(1, "rmnet_data0") == .cellular)
        #expect(type(65_534) == .other && type(512) == .other && type(65_534, kind: "wireguard") == .other)
        #expect(type(1, kind: "veth") == .wiredEthernet && type(32) == .other)
    }

    @Test func networksHaveNames() {
        let name = FakeNetwork.online.snapshot.networkID
        var network = FakeNetwork.online
        network.route(.v4, by: 2, gateway: "10.1.0.254", source: "10.1.0.2")
        #expect(network.snapshot.networkID != name)
        network.route(.v4, by: 2, gateway: "10.1.0.1", source: "10.1.0.2")
        #expect(network.snapshot.networkID == name)
    }

    @Test func blind() {
        var network = FakeNetwork()
        network.observation.hasUnknownInterfaces = true
        network.observation.answers[.v4] = [.route(KernelRoute(interface: nil, source: IPAddress("10.1.0.2")))]
        network.refuse(.v6, 101)
        #expect(network.snapshot.status == .unknown && network.snapshot.modelStatus == .unknown)
        #expect(network.snapshot.ipv4.isUsable && !network.snapshot.ipv6.isUsable && network.snapshot.flags == nil)
    }
}

struct TunnelTests {
    private func tunnelled(underlying: UInt32) -> FakeNetwork {
        var network = FakeNetwork()
        network.addLoopback()
        network.addLink(2, "eth0", flags: underlying)
        network.addAddress(2, "10.1.0.2")
        network.addLink(3, "wg0", flags: 0x1_00D1, hardwareType: 65_534, state: .unknown, kind: "wireguard")
        network.addAddress(3, "10.8.0.2", 32)
        network.route(.v4, by: 3, source: "10.8.0.2")
        return network
    }

    @Test func aTunnelOverANetwork() {
        let snapshot = tunnelled(underlying: FakeNetwork.running).snapshot
        #expect(snapshot.status == .satisfied && snapshot.interface?.type == .other)
        #expect(snapshot.tunnel == .init(interface: "wg0", hasUnderlying: true))
        #expect(snapshot.flags == [.reachable, .transientConnection, .isDirect])
    }

    @Test func aTunnelOverNothing() {
        let snapshot = tunnelled(underlying: FakeNetwork.withoutCarrier).snapshot
        #expect(snapshot.status == .unsatisfied && snapshot.unsatisfiedReason == .vpnInactive)
        #expect(snapshot.interface == nil && snapshot.flags == [] && snapshot.gateways.isEmpty)
    }

    @Test func aBridgeOfContainersIsNoNetwork() {
        var network = tunnelled(underlying: FakeNetwork.withoutCarrier)
        network.addLink(4, "docker0", kind: "bridge")
        network.addAddress(4, "172.17.0.1", 16)
        network.addLink(5, "vc0", kind: "veth", master: 4)
        #expect(network.snapshot.unsatisfiedReason == .vpnInactive)
        network.addLink(6, "eth1", master: 4)
        #expect(network.snapshot.status == .satisfied)
    }

    @Test func whereThereAreOnlyTunnels() {
        var network = FakeNetwork()
        network.addLink(3, "tun0", flags: 0x1_00D1, hardwareType: 65_534)
        network.addAddress(3, "10.8.0.2", 32)
        network.route(.v4, by: 3, source: "10.8.0.2")
        #expect(network.snapshot.status == .satisfied)
    }
}
