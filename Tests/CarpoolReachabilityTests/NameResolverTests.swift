import CarpoolReachability
import CarpoolSystem
import Testing

struct NameResolverTests {
    @Test func anAddressNeedsNoLookUp() throws {
        let resolver = NameResolver(loop: try EventLoop())
        var found: [IPAddress] = []
        resolver.resolve("192.0.2.7", for: 1) { found = (try? $0.get()) ?? [] }
        #expect(found == [try #require(IPAddress("192.0.2.7"))])
    }

    @Test func names() throws {
        let loop = try EventLoop()
        let resolver = NameResolver(loop: loop)
        var results: [String: Result<[IPAddress], NameResolver.Failure>] = [:]
        // More than the maximum of parallel look-ups.
        let names = (0..<12).map { _ in "localhost" } + ["no-such-host.invalid", String(repeating: "x", count: 300)]
        var open = names.count
        for name in names {
            resolver.resolve(name, for: 1) { result in
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

    @Test func oneUserLeavesLookUpsToOthers() throws {
        let loop = try EventLoop()
        let resolver = NameResolver(loop: loop)
        var results: [UInt32: [Result<[IPAddress], NameResolver.Failure>]] = [:]
        var open = 201
        for number in 0..<201 {
            let user: UInt32 = number < 200 ? 1 : 2
            resolver.resolve("localhost", for: user) { result in
                results[user, default: []].append(result)
                open -= 1
                if open == 0 { loop.stop() }
            }
        }
        let refused = results[1, default: []].count
        #expect(refused == 200 - 6 - 128, "a look-up beyond the user's maximum is refused at once")
        let limit = Timer { loop.stop() }
        loop.arm(limit, afterMilliseconds: 60_000)
        loop.run()
        #expect(open == 0)
        #expect(throws: NameResolver.Failure.tooMany) { try results[1]?.first?.get() }
        #expect(try results[2]?.first?.get().contains { $0.isLoopback } == true)
    }
}
