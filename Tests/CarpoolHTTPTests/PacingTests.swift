import Testing

@testable import CarpoolHTTP

/// The bytes that large transfers move in a turn of the loop.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct PacingTests {
    let nginx: Nginx

    init() throws { nginx = try Nginx.shared.get() }

    func ask(_ base: String, isLong: Bool) throws -> Ask {
        var ask = Ask(base + "/raw.txt")
        ask.trust = try .authorities(file: nginx.authority)
        ask.decodes = false
        ask.keepsBody = false
        ask.isLong = isLong
        return ask
    }

    /// Beyond the budget each transfer may move a first piece, and the rest of the buffer that libcurl has read.
    func limit(_ transfers: Int) -> Int { TurnBudget.bytesPerTurn + transfers * 16_384 + TurnBudget.smallestShare }

    @Test(arguments: [1, 6], [false, true]) func b9DownloadsMoveNoMoreInATurnThanTheBudget(
        count: Int, isSecure: Bool
    ) async throws {
        for isLong in [true, false] {
            let driver = try await Driver()
            let base = isSecure ? nginx.httpsWithoutHTTP2 : nginx.http
            let outcomes = try await driver.fetchAll(Array(repeating: try ask(base, isLong: isLong), count: count))
            #expect(outcomes.allSatisfy { $0.error == nil && $0.length == 20_000_000 })
            #expect(await driver.mostBytesInATurn <= limit(count))
            await driver.end()
        }
    }

    @Test(.enabled(if: CurlLibrary.profile == .multiplex)) func b9StreamsOfOneConnectionDoNotStallEachOther()
        async throws
    {
        let driver = try await Driver()
        let outcomes = try await driver.fetchAll(Array(repeating: try ask(nginx.https, isLong: false), count: 6))
        #expect(outcomes.allSatisfy { $0.error == nil && $0.length == 20_000_000 && $0.version == "h2" })
        #expect(await driver.statistics.openedConnections == 1)
        #expect(await driver.mostBytesInATurn <= TurnBudget.sharedBytesPerTurn + 6 * 16_384)
        await driver.end()
    }

    @Test func b9UploadsMoveNoMoreInATurnThanTheBudget() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/upload")
        ask.method = "POST"
        ask.file = (nginx.directory + "/www/zero.txt", 0, 20_000_000)
        let outcomes = try await driver.fetchAll(Array(repeating: ask, count: 6))
        #expect(outcomes.allSatisfy { $0.error == nil && $0.sentBodyBytes == 20_000_000 })
        #expect(await driver.mostBytesInATurn <= limit(6))
        await driver.end()
    }

    /// B3: nothing but chunks of one byte, as many as the kernel holds. They are all delivered, and no pause counts as
    /// idle time.
    @Test func b3AnOriginThatSendsSingleBytesIsReadToTheEnd() async throws {
        let count = 300_000
        let origin = try ScriptedOrigin { peer in
            while peer.readHead() != nil {
                peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                peer.write([UInt8](Array(repeating: Array("1\r\nX\r\n".utf8), count: count).joined()))
                peer.write("0\r\n\r\n")
            }
        }
        let driver = try await Driver()
        var ask = Ask(origin.url)
        ask.keepsBody = false
        for isLong in [false, true] {
            ask.isLong = isLong
            let outcome = try await driver.fetch(ask)
            #expect(outcome.error == nil)
            #expect(outcome.length == count)
        }
        await driver.end()
        origin.end()
    }
}
