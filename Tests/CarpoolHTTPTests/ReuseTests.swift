import CarpoolHTTP
import Glibc
import Synchronization
import Testing

/// Bytes that an origin sends on an idle connection are not the response of any request.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ReuseTests {
    static let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

    /// When the forged response comes.
    enum Moment: CaseIterable {
        /// In one piece with the response before it.
        case behindTheResponse
        /// While the connection is in the pool.
        case whileIdle
        /// As the last, but in two pieces; the second is an end of file.
        case whileIdleAndThenClosed
        /// A forged response that is longer than what libcurl reads at a time.
        case longBehindTheResponse
    }

    enum Framing: CaseIterable { case length, chunked, empty }

    static func good(_ framing: Framing) -> String {
        switch framing {
        case .length: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
        case .chunked: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n"
        case .empty: "HTTP/1.1 204 No Content\r\n\r\n"
        }
    }

    /// Sends, waits some ten seconds for the peer's kernel to acknowledge it, and returns how many bytes it has not
    /// acknowledged.
    static func deliver(_ text: String, over descriptor: Int32) -> Int32 {
        _ = text.withCString { send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        var unacknowledged: Int32 = 1
        for _ in 0..<100_000 where unacknowledged > 0 {
            _ = ioctl(descriptor, UInt(TIOCOUTQ), &unacknowledged)
            if unacknowledged > 0 { usleep(100) }
        }
        return unacknowledged
    }

    @Test(arguments: Moment.allCases, Framing.allCases) func a3BytesOnAnIdleConnectionAreNobodysResponse(
        moment: Moment, framing: Framing
    ) async throws {
        let fetched = Counter()
        let origin = try ScriptedOrigin { peer in
            while peer.readHead() != nil {
                guard peer.index == 0 else {
                    peer.write(ReuseTests.good(framing))
                    continue
                }
                switch moment {
                case .behindTheResponse: peer.write(ReuseTests.good(framing) + ReuseTests.forged)
                case .longBehindTheResponse:
                    let body = String(repeating: "forged", count: 50_000)
                    peer.write(
                        ReuseTests.good(framing) + "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                            + body)
                case .whileIdle, .whileIdleAndThenClosed:
                    peer.write(ReuseTests.good(framing))
                    fetched.wait(for: 1)
                    peer.write(ReuseTests.forged)
                    if moment == .whileIdleAndThenClosed { return }
                }
            }
        }
        let driver = try await Driver()
        let expected = framing == .empty ? "" : "good"
        #expect(try await driver.fetch(Ask(origin.url)).text == expected)
        fetched.add()
        if moment == .whileIdle || moment == .whileIdleAndThenClosed { await driver.allConnectionsClosed() }
        for _ in 0..<3 {
            let outcome = try await driver.fetch(Ask(origin.url))
            #expect(outcome.error == nil)
            #expect(outcome.text == expected)
            #expect(outcome.status == (framing == .empty ? 204 : 200))
        }
        await driver.end()
        origin.end()
    }

    /// The forged response is in the kernel before the loop looks again: the loop's own thread writes it.
    @Test(arguments: ["GET", "POST"]) func a3BytesThatCameSinceTheLastLookAreNoticedToo(method: String) async throws {
        let peers = Mutex<[Int32]>([])
        let undelivered = Mutex<Int32>(0)
        let origin = try ScriptedOrigin { peer in
            peers.withLock { $0.append(peer.descriptor) }
            while peer.readHead() != nil { peer.write(ReuseTests.good(.length)) }
        }
        let driver = try await Driver()
        var ask = Ask(origin.url)
        for round in 1...5 {
            ask.method = "GET"
            #expect(try await driver.fetch(ask).text == "good")
            ask.method = method
            let last = try #require(peers.withLock { $0.last })
            let outcome = try await driver.fetch(
                ask,
                after: {
                    let left = ReuseTests.deliver(ReuseTests.forged, over: last)
                    undelivered.withLock { $0 = left }
                })
            #expect(undelivered.withLock { $0 } == 0)
            #expect(outcome.error == nil)
            #expect(outcome.text == "good")
            #expect(outcome.metrics.isReused == false)
            #expect(peers.withLock { $0.count } == round + 1)
        }
        await driver.end()
        origin.end()
    }
}
