import Testing

@testable import CarpoolHTTP

/// What becomes of the pools of origins that have lost their connections.
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
            transport.connections.emptied.append(OriginPool(key: pool.key, multi: pool.multi, lane: pool.lane))
            transport.lookAfterPool()
            return transport.queue.speech(of: pool.lane) == .http2 && transport.pools[pool.key] === pool
        }
        #expect(isKnown == true)
        await driver.end()
    }
}
