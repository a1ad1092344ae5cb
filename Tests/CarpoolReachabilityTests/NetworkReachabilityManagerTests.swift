import CarpoolReachability
import CarpoolSystem
import Glibc
import Testing

/// In the network of the machine; changes of a network are tested in namespaces by the acceptance suite.
struct NetworkReachabilityManagerTests {
    @Test func looksAtTheRealNetwork() throws {
        let loop = try EventLoop()
        let manager = NetworkReachabilityManager(loop: loop)
        defer { manager.stop() }
        let snapshot = manager.snapshot
        #expect(snapshot.interfaces.contains { $0.type == .loopback })
        #expect(manager.statistics.source == .rtnetlink && manager.statistics.failures == 0)
        #expect(ModelStatus(flags: snapshot.flags) == snapshot.modelStatus)
        let host = manager.lookup(try #require(IPAddress("127.0.0.1")))
        #expect(host.status == .satisfied && host.path.isLocalAddress && host.flags?.contains(.isLocalAddress) == true)
        let before = manager.reading
        #expect(manager.refresh().sequence >= before.sequence)
        #expect(manager.reading.time > before.time && manager.statistics.evaluations == 2)
    }

    @Test func aStatusFromTheConfiguration() throws {
        let loop = try EventLoop()
        var configuration = ReachabilityConfiguration()
        configuration.override = .unsatisfied
        let manager = NetworkReachabilityManager(loop: loop, configuration: configuration)
        var changes: [ReachabilityChange] = []
        let observation = manager.observe { changes.append($0) }
        #expect(manager.snapshot.status == .unsatisfied && manager.snapshot.flags == [])
        #expect(manager.lookup(try #require(IPAddress("10.0.0.1"))).status == .unsatisfied)
        configuration.override = .satisfied
        manager.reconfigure(configuration)
        #expect(changes.map(\.isReturn) == [true] && changes.first?.causes == .configuration)
        withExtendedLifetime(observation) {}
    }

    @Test func anObserverThatIsGoneIsNotCalled() throws {
        let loop = try EventLoop()
        var configuration = ReachabilityConfiguration()
        configuration.override = .unsatisfied
        let manager = NetworkReachabilityManager(loop: loop, configuration: configuration)
        var count = 0
        var observation: NetworkReachabilityManager.Observation? = manager.observe { _ in count += 1 }
        withExtendedLifetime(observation) {}
        observation = nil
        configuration.override = .satisfied
        manager.reconfigure(configuration)
        #expect(count == 0)
    }

    @Test func nameServersThatChange() throws {
        let loop = try EventLoop()
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try folder.write("resolv.conf", "nameserver 127.0.0.1\n")
        var configuration = ReachabilityConfiguration()
        configuration.resolverPath = "\(folder.path)/resolv.conf"
        let manager = NetworkReachabilityManager(loop: loop, configuration: configuration)
        defer { manager.stop() }
        #expect(manager.snapshot.nameServers.map(\.address) == [IPAddress("127.0.0.1")])
        let observation = manager.observe { change in
            if change.difference.fields.contains("dns") { loop.stop() }
        }
        try folder.write("other", "# none\nnameserver 127.0.0.53 \nnameserver fe80::1%lo\nnameserver nonsense\n")
        #expect(rename("\(folder.path)/other", "\(folder.path)/resolv.conf") == 0)
        let limit = Timer { loop.stop() }
        loop.arm(limit, afterMilliseconds: 20_000)
        loop.run()
        loop.cancel(limit)
        #expect(manager.snapshot.nameServers.map(\.address.description) == ["127.0.0.53", "fe80::1"])
        withExtendedLifetime(observation) {}
    }
}
