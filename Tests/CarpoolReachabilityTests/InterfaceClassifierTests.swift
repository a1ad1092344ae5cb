@testable import CarpoolReachability
import Testing

struct InterfaceClassifierTests {
    private func link(_ index: Int, _ name: String, hardwareType: UInt16 = 1) -> NetworkLink {
        NetworkLink(index: index, name: name, flags: FakeNetwork.running, hardwareType: hardwareType)
    }

    @Test func sysfsTellsWhatTheKernelDoesNot() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        for (index, name) in [(2, "a"), (3, "b"), (4, "c"), (5, "d")] {
            folder.makeFolder(name)
            try folder.write("\(name)/ifindex", "\(index)\n")
        }
        try folder.write("a/uevent", "INTERFACE=a\nDEVTYPE=wlan\n")
        try folder.write("b/uevent", "DEVTYPE=wwan\nIFINDEX=3\n")
        folder.makeFolder("c/phy80211")
        try folder.write("d/uevent", "DEVTYPE=bridge\n")
        var classifier = InterfaceClassifier(root: folder.path)
        let links = [link(2, "a"), link(3, "b"), link(4, "c"), link(5, "d"), link(6, "e"), link(9, "../a")]
        #expect(
            classifier.types(of: links) == [
                2: .wifi, 3: .cellular, 4: .wifi, 5: .wiredEthernet, 6: .wiredEthernet, 9: .wiredEthernet,
            ])
    }

    @Test func filesOfAnotherNamespaceDoNotCount() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        folder.makeFolder("eth0")
        try folder.write("eth0/ifindex", "4\n")
        try folder.write("eth0/uevent", "DEVTYPE=wlan\n")
        var classifier = InterfaceClassifier(root: folder.path)
        #expect(classifier.types(of: [link(2, "eth0")]) == [2: .wiredEthernet])
    }

    @Test func anInterfaceIsAskedOnceUnlessItsNameChanges() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        folder.makeFolder("a")
        try folder.write("a/ifindex", "2\n")
        try folder.write("a/uevent", "DEVTYPE=wlan\n")
        var classifier = InterfaceClassifier(root: folder.path)
        #expect(classifier.types(of: [link(2, "a")]) == [2: .wifi])
        try folder.write("a/uevent", "\n")
        #expect(classifier.types(of: [link(2, "a")]) == [2: .wifi])
        #expect(classifier.types(of: [link(2, "b")]) == [2: .wiredEthernet])
        #expect(classifier.types(of: [link(2, "a")]) == [2: .wiredEthernet])
    }
}

struct ResolverFileTests {
    @Test(arguments: [
        ("", []), ("nameserver 192.0.2.1", ["192.0.2.1"]),
        (
            "# c\n; d\nnameserver\t192.0.2.1 # x\r\n  nameserver 2001:db8::1\nnameservers 192.0.2.9\n",
            [
                "192.0.2.1", "2001:db8::1",
            ]
        ),
        (
            "nameserver 1.1.1.1\nnameserver 2.2.2.2\nnameserver 3.3.3.3\nnameserver 4.4.4.4\n",
            [
                "1.1.1.1", "2.2.2.2", "3.3.3.3",
            ]
        ),
        ("nameserver fe80::1%eth0\noptions edns0\n", ["fe80::1"]),
    ])
    func servers(_ text: String, _ expected: [String]) {
        #expect(ResolverFile.nameServers(in: text).map(\.description) == expected)
    }

    @Test func theFoldersOnTheWay() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        folder.makeFolder("etc")
        folder.makeFolder("run")
        folder.link("etc/resolv.conf", to: "../run/stub.conf")
        folder.link("run/stub.conf", to: "\(folder.path)/run/real.conf")
        let found = ResolverFile.folders(of: "\(folder.path)/etc/resolv.conf").map { "\($0.folder) \($0.name)" }
        #expect(
            found == [
                "\(folder.path)/etc resolv.conf", "\(folder.path)/etc/../run stub.conf", "\(folder.path)/run real.conf",
            ])
        #expect(ResolverFile.folders(of: "/resolv.conf").map { "\($0.folder) \($0.name)" } == ["/ resolv.conf"])
    }

    @Test func aRingOfLinksEnds() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        folder.link("a", to: "b")
        folder.link("b", to: "a")
        #expect(ResolverFile.folders(of: "\(folder.path)/a").count == 8)
    }
}

struct DatagramNetworkTests {
    @Test func aRouteWithoutNetlink() throws {
        let network = DatagramNetwork()
        for text in ["127.0.0.1", "::1"] {
            let address = try #require(IPAddress(text))
            guard case .route(let route) = try network.route(to: address, interface: nil) else { continue }
            #expect(route.source == address && route.interface == nil)
        }
        #expect(try network.interfaces().links.isEmpty)
    }

    @Test(arguments: [
        // 13 is EACCES: there is a route to a broadcast address, which sockets may use with a permission only. Loopback
        // has one everywhere.
        ("127.255.255.255", [13]),
        // 101 is ENETUNREACH: in a network namespace without routes there is none to this one either.
        ("255.255.255.255", [13, 101]),
    ])
    func aRefusedRouteHasItsError(_ text: String, _ errors: [Int32]) throws {
        let address = try #require(IPAddress(text))
        let answer = try DatagramNetwork().route(to: address, interface: nil)
        #expect(errors.contains { answer == .refused($0) })
    }
}
