import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// HK-02: keys on disk, and what never gets one.
struct DiskKeyTests {
    private static func key(_ partition: ConnectionPartition, _ url: String = "http://a/") -> DiskKey? {
        CacheKey(partition: partition, url: url).diskIdentity
    }

    private static func partition(_ change: (inout ConnectionPartition) -> Void) -> ConnectionPartition {
        var partition = ConnectionPartition()
        change(&partition)
        return partition
    }

    @Test func whatDistinguishesPartitionsDistinguishesKeys() throws {
        let proxy = Proxy(kind: .http, host: "p", port: 1)
        let partitions = [
            ConnectionPartition(), ConnectionPartition(host: "h"), ConnectionPartition(host: ""),
            ConnectionPartition(user: 0), ConnectionPartition(user: 1),
            Self.partition { $0.proxy = proxy },
            Self.partition { $0.proxy = Proxy(kind: .http, host: "p", port: 2) },
            Self.partition { $0.proxy = Proxy(kind: .socks5, host: "p", port: 1) },
            Self.partition { $0.proxy = Proxy(kind: .http, host: "p", port: 1, tunnelsEverything: true) },
            Self.partition { $0.proxy = Proxy(kind: .http, host: "p", port: 1, preproxy: proxy) },
            Self.partition { $0.addresses = ConnectionAddresses(interface: "lo") },
            Self.partition { $0.addresses = ConnectionAddresses(localAddress: "lo") },
            Self.partition { $0.addresses = ConnectionAddresses(family: .ipv4) },
            Self.partition { $0.addresses = ConnectionAddresses(socket: .path("lo")) },
            Self.partition { $0.addresses = try? ConnectionAddresses(resolve: [HostAddresses("a:80:127.0.0.1")]) },
            Self.partition { $0.addresses = try? ConnectionAddresses(connectTo: [HostReplacement("a:80:b:81")]) },
        ]
        let keys = try partitions.map { try #require(Self.key($0)) }
        #expect(Set(keys).count == keys.count)
        // The same in each run of the program: rows of earlier ones are found.
        #expect(Self.key(ConnectionPartition(), "https://example.com/")?.high == 0xD52E_A451_51D5_CFC2)
        #expect(DiskKey(keys[0].bytes) == keys[0])
        #expect(DiskKey([1, 2, 3]) == nil)
    }

    /// To Swift, two texts are equal that only look the same.
    @Test func urlsAreComparedByTheirBytes() {
        let (composed, decomposed) = ("http://a/\u{e9}", "http://a/e\u{301}")
        #expect(composed == decomposed)
        #expect(Self.key(ConnectionPartition(), composed) != Self.key(ConnectionPartition(), decomposed))
    }

    /// Nothing on disk says anything about a password, and nothing stays that the next run could not tell apart.
    @Test func somePartitionsStayInMemory() {
        let credential = Proxy.Credential(user: "u", password: "p")
        let proxy = Proxy(kind: .http, host: "p", port: 1, credential: credential)
        #expect(Self.key(Self.partition { $0.proxy = proxy }) == nil)
        #expect(
            Self.key(Self.partition { $0.proxy = Proxy(kind: .http, host: "q", port: 1, preproxy: proxy) }) == nil)
        #expect(Self.key(Self.partition { $0.trust = .none }) == nil)
        #expect(Self.key(Self.partition { $0.tls = TLSSettings(minimum: .tls13) }) == nil)
    }

    @Test func aSetOfHashesIsASet() {
        var generator = SplitMix(state: 9)
        var expected: Set<UInt64> = []
        let start = (0..<2_000).map { _ in UInt64.random(in: 0...3_000, using: &generator) &* 0x9E37_79B9_7F4A_7C15 }
        var set = KeyHashSet(start)
        expected.formUnion(start)
        for _ in 0..<20_000 {
            let hash = UInt64.random(in: 0...3_000, using: &generator) &* 0x9E37_79B9_7F4A_7C15
            #expect(set.contains(hash) == expected.contains(hash))
            if Bool.random(using: &generator) {
                set.insert(hash)
                expected.insert(hash)
            } else {
                set.remove(hash)
                expected.remove(hash)
            }
            #expect(set.count == expected.count)
        }
        for hash in expected { set.remove(hash) }
        #expect(set.count == 0)
        #expect(!KeyHashSet().contains(0))
    }
}
