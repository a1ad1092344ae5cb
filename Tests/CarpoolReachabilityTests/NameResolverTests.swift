import CarpoolReachability
import CarpoolSystem
import Testing

struct NameResolverTests {
    @Test func anAddressNeedsNoLookUp() throws {
        let resolver = NameResolver(loop: try EventLoop())
        var found: [IPAddress] = []
        resolver.resolve("192.0.2.7") { found = (try? $0.get()) ?? [] }
        #expect(found == [try #require(IPAddress("192.0.2.7"))])
    }

    @Test func names() throws {
        let loop = try EventLoop()
        let resolver = NameResolver(loop: loop)
        var results: [String: Result<[IPAddress], NameResolver.Failure>] = [:]
        // More than are looked up at a time.
        let names = (0..<12).map { _ in "localhost" } + ["no-such-host.invalid", String(repeating: "x", count: 300)]
        var open = names.count
        for name in names {
            resolver.resolve(name) { result in
                results[name] = result
                open -= 1
                if open == 0 { loop.stop() }
            }
        }
        let limit = Timer { loop.stop() }
        loop.arm(limit, afterMilliseconds: 60_000)
        loop.run()
        #expect(open == 0)
        #expect(try results["localhost"]?.get().contains { $0.isLoopback } == true)
        #expect(throws: NameResolver.Failure.self) { try results["no-such-host.invalid"]?.get() }
        #expect(throws: NameResolver.Failure.lookupFailed) { try results[names[13]]?.get() }
    }
}
