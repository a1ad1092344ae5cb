import CarpoolHTTP
import Testing

/// Connections when the machine's addresses change.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct NetworkChangeTests {
    private static let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    @Test func idleConnectionsOfAGoneAddressAreClosedAndTheNextRequestWorks() async throws {
        let nginx = try Nginx.shared.get()
        for scheme in [nginx.http, nginx.https] {
            let driver = try await Driver()
            var ask = Ask(scheme + "/where")
            ask.trust = try .authorities(file: nginx.authority)
            _ = await driver.change(addresses: ["127.0.0.1", "192.0.2.1"])
            let first = try await driver.fetch(ask)
            #expect(await driver.change(addresses: ["127.0.0.1"]) == 0, "no connection uses the other address")
            #expect(try await driver.fetch(ask).metrics.connection == first.metrics.connection)
            #expect(await driver.change(addresses: ["192.0.2.1"]) == 1)
            #expect(await driver.change(addresses: ["192.0.2.1"]) == 0, "it is closed already")
            let next = try await driver.fetch(ask)
            #expect(next.error == nil)
            #expect(next.metrics.connection != first.metrics.connection)
            await driver.end()
        }
    }

    @Test func anAddressThatComesBackLeavesItsConnectionsAlone() async throws {
        let nginx = try Nginx.shared.get()
        let driver = try await Driver()
        let first = try await driver.fetch(Ask(nginx.http + "/where"))
        #expect(await driver.change(addresses: []) == 0, "the address was never reported as present")
        #expect(await driver.change(addresses: ["127.0.0.1"]) == 0)
        #expect(try await driver.fetch(Ask(nginx.http + "/where")).metrics.connection == first.metrics.connection)
        await driver.end()
    }

    /// A body without a length ends with its connection: a connection that the transport closes must not look like that
    /// end.
    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n\r\nhalf"], ["GET", "POST"])
    func whatIsUnderWayEndsAfterASecondOfSilence(answer: String, method: String) async throws {
        let heads = Counter()
        let origin = try ScriptedOrigin { peer in
            // The first request of a connection is answered, so that the second one is on a connection that is not new.
            guard peer.readHead() != nil else { return }
            peer.write(NetworkChangeTests.empty)
            guard peer.readHead() != nil else { return }
            peer.write(answer)
            heads.add()
            peer.waitForEnd()
        }
        let driver = try await Driver()
        _ = await driver.change(addresses: ["127.0.0.1"])
        _ = try await driver.fetch(Ask(origin.url))
        var ask = Ask(origin.url)
        ask.method = method
        let sent = ask
        async let outcome = driver.fetch(sent)
        while heads.value == 0 { await Task.yield() }
        #expect(await driver.change(addresses: []) == 0)
        let end = try await outcome
        if method == "GET", answer.isEmpty {
            #expect(end.status == 200, "as with any old connection that turns out dead")
        } else {
            #expect(end.error?.code == .networkConnectionLost)
            #expect(end.error?.isRetryable == (method == "GET"))
            #expect(heads.value == 1, "it was not sent again")
        }
        await driver.end()
        origin.end()
    }

    /// Of many streams on one connection some may still complete; no new ones may be added to it.
    @Test(.enabled(if: CurlLibrary.profile == .multiplex))
    func newRequestsDoNotJoinThoseUnderWay() async throws {
        let nginx = try Nginx.shared.get()
        let driver = try await Driver()
        _ = await driver.change(addresses: ["127.0.0.1"])
        var quick = Ask(nginx.https + "/where")
        quick.trust = try .authorities(file: nginx.authority)
        let first = try await driver.fetch(quick)
        var stalled = quick
        stalled.method = "POST"
        stalled.url = nginx.https + "/stall"
        async let lost = driver.fetch(stalled)
        while await driver.origins.allSatisfy({ $0.active == 0 }) { await Task.yield() }
        _ = await driver.change(addresses: [])
        let next = try await driver.fetch(quick)
        #expect(first.version == "h2" && next.version == "h2")
        #expect(next.error == nil && next.metrics.connection != first.metrics.connection)
        #expect(try await lost.error?.code == .networkConnectionLost)
        await driver.end()
    }

    @Test func whatIsUnderWayGoesOnWhenTheAddressIsBack() async throws {
        let steps = Counter()
        let origin = try ScriptedOrigin { peer in
            guard peer.readHead() != nil else { return }
            steps.add()
            steps.wait(for: 2)
            peer.write(NetworkChangeTests.empty)
            peer.waitForEnd()
        }
        let driver = try await Driver()
        _ = await driver.change(addresses: ["127.0.0.1"])
        async let outcome = driver.fetch(Ask(origin.url))
        while steps.value == 0 { await Task.yield() }
        _ = await driver.change(addresses: [])
        _ = await driver.change(addresses: ["127.0.0.1"])
        steps.add()
        #expect(try await outcome.status == 200)
        await driver.allConnectionsClosed()
        await driver.end()
        origin.end()
    }

    /// A name with addresses of both families, of which only that of the unusable family has a listener: it is found
    /// all the same.
    @Test func aFamilyOfNoUseIsTriedWhenNothingElseIsLeft() async throws {
        let nginx = try Nginx.shared.get()
        let driver = try await Driver()
        await driver.change(families: .ipv6)
        let outcome = try await driver.fetch(
            Ask("http://localhost\(nginx.http.dropFirst("http://127.0.0.1".count))/where"))
        #expect(outcome.error == nil)
        #expect(outcome.metrics.remoteAddress == "127.0.0.1")
        await driver.end()
    }
}
