import Testing

@testable import CarpoolHTTP

/// The pools of origins that have lost their connections.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct PoolUpkeepTests {
    @Test(.enabled(if: CurlLibrary.profile == .multiplex))
    func whatIsKnownOfAnOriginIsNotForgottenForAPoolThatIsGone() async throws {
        let nginx = try Nginx.shared.get()
        let driver = try await Driver()
        var ask = Ask(nginx.https + "/hello")
        ask.trust = try .authorities(file: nginx.authority)
        #expect(try await driver.fetch(ask).version == "h2")
        let isKnown = await driver.look { transport in
            guard let pool = transport.pools.values.first else { return false }
            // One that is not registered any more, and whose lane another has now.
            transport.connections.emptyPools.append(
                OriginPool(key: pool.key, multi: pool.multi, queueID: pool.queueID, userPools: pool.userPools))
            transport.maintainPool()
            return transport.queue.protocolState(of: pool.queueID) == .http2 && transport.pools[pool.key] === pool
        }
        #expect(isKnown == true)
        await driver.end()
    }

    @Test func aPoolOfAUserGoesWithItsLastOrigin() async throws {
        let origin = try ScriptedOrigin { peer in
            while peer.readHead() != nil { peer.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
        }
        let driver = try await Driver()
        var ask = Ask(origin.url)
        ask.user = 7
        #expect(try await driver.fetch(ask).error == nil)
        #expect(try await driver.fetch(Ask(origin.url)).error == nil)
        #expect(await driver.statistics.partitions == 2)
        #expect(await driver.origins(of: .user(7), after: 0, atMost: 9).map(\.user) == [7])
        _ = await driver.closeIdle()
        await driver.allConnectionsClosed()
        // The common one stays.
        #expect(await driver.statistics.partitions == 1)
        await driver.end()
        origin.end()
    }

    @Test func originsComeInPagesAndTheirSumsAreThoseOfTheirUser() async throws {
        let origins = try (0..<5).map { _ in
            try ScriptedOrigin { peer in
                while peer.readHead() != nil { peer.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
            }
        }
        let driver = try await Driver()
        for (index, origin) in origins.enumerated() {
            var ask = Ask(origin.url)
            ask.user = index < 2 ? 7 : nil
            #expect(try await driver.fetch(ask).error == nil)
        }
        #expect(await driver.load(of: .all).origins == 5)
        #expect(await driver.load(of: .user(7)).origins == 2)
        #expect(await driver.load(of: .user(7)).idle == 2)
        #expect(await driver.load(of: .user(8)).connections == 0)
        var (seen, last): ([String], Int) = ([], 0)
        while case let page = await driver.origins(of: .all, after: last, atMost: 2), !page.isEmpty {
            #expect(page.count <= 2)
            seen += page.map { "http://127.0.0.1:\($0.origin.port)" }
            last = page.last?.number ?? 0
        }
        #expect(seen.count == 5 && Set(seen).count == 5)
        #expect(await driver.origins(of: .user(nil), after: 0, atMost: 9).count == 3)
        await driver.end()
        for origin in origins { origin.end() }
    }
}
