import CarpoolHTTP
import Testing

@Suite(.serialized, .timeLimit(.minutes(1)))
struct CurlTransportTests {
    let nginx: Nginx
    var trust: ConnectionPartition.Trust { .authorities(path: nginx.authority, digest: 1) }

    init() throws { nginx = try Nginx.shared.get() }

    @Test func fetchesOverPlainHTTP() async throws {
        let driver = try await Driver()
        let outcome = try await driver.fetch(Ask(nginx.http + "/hello"))
        #expect(outcome.error == nil)
        #expect(outcome.status == 200)
        #expect(outcome.text == "hello")
        #expect(outcome.version == "http/1.1")
        #expect(outcome.heads == 1 && outcome.starts == 1 && outcome.completions == 1)
        await driver.end()
    }

    @Test func usesOneConnectionAgainAndAgain() async throws {
        let driver = try await Driver()
        for round in 1...20 {
            let outcome = try await driver.fetch(Ask(nginx.http + "/where"))
            #expect(outcome.text.hasSuffix(" \(round)"))
            #expect(outcome.metrics.isReused == (round > 1))
            #expect(outcome.metrics.connection == 1)
        }
        await driver.end()
    }

    @Test func speaksTLS() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.https + "/hello")
        ask.trust = trust
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error == nil)
        #expect(outcome.text == "hello")
        #expect(outcome.version == (CurlLibrary.profile == .multiplex ? "h2" : "http/1.1"))
        #expect(outcome.metrics.tlsVersion == "TLSv1.3")
        await driver.end()
    }
}
