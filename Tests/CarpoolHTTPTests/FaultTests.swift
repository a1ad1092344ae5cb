import CarpoolHTTP
import Testing

/// Origins that misbehave: each has its named error, and the pool serves the next request.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct FaultTests {
    static let good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"

    /// Runs a request against an origin whose first connection follows the script and whose others are good; then one
    /// more, which must succeed.
    func outcome(
        of change: (inout Ask) -> Void = { _ in }, _ script: @escaping @Sendable (Peer) -> Void
    ) async throws -> Outcome {
        let origin = try ScriptedOrigin { peer in
            if peer.index == 0 { return script(peer) }
            while peer.readHead() != nil { peer.write(FaultTests.good) }
        }
        let driver = try await Driver()
        var ask = Ask(origin.url)
        change(&ask)
        let outcome = try await driver.fetch(ask)
        let next = try await driver.fetch(Ask(origin.url))
        #expect(next.error == nil)
        #expect(next.text == "good")
        await driver.end()
        origin.end()
        return outcome
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "network_connection_lost", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "network_connection_lost", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nab\r\n", "cannot_parse_response", false),
        (
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip",
            "cannot_decode_content_data", false
        ),
        ("rubbish and no end of it\r\n\r\n", "bad_server_response", true),
        ("HTTP/1.1 100 Continue\r\n\r\n", "network_connection_lost", true),
        ("HTTP/1.1 200 OK\r\nContent-Le", "network_connection_lost", true),
    ]) func namesWhatIsWrongWithAResponse(response: String, code: String, isRetryable: Bool) async throws {
        let outcome = try await outcome { peer in
            _ = peer.readHead()
            peer.write(response)
        }
        #expect(outcome.error?.code.rawValue == code)
        #expect(outcome.error?.isRetryable == isRetryable)
    }

    @Test func aResetInTheBodyIsALostConnection() async throws {
        let outcome = try await outcome { peer in
            _ = peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
            _ = peer.read(0)
            peer.reset()
        }
        #expect(outcome.error?.code == .networkConnectionLost)
    }

    @Test func aHeadWithoutEndIsCutOff() async throws {
        let outcome = try await outcome { peer in
            _ = peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\n")
            for _ in 0..<400 { peer.write("A: " + String(repeating: "x", count: 1_000) + "\r\n") }
            peer.waitForEnd()
        }
        #expect(outcome.error?.code == .dataLengthExceedsMaximum)
    }

    @Test func refusedAndUnknownHostsHaveTheirNames() async throws {
        let driver = try await Driver()
        let refused = try await driver.fetch(Ask("http://127.0.0.1:\(try LoopbackSocket.freePort())/"))
        #expect(refused.error?.code == .cannotConnectToHost)
        #expect(refused.error?.isRetryable == true)
        #expect(refused.error?.systemCode == 111)
        let unknown = try await driver.fetch(Ask("http://nothing.invalid/"))
        #expect(unknown.error?.code == .cannotFindHost)
        #expect(unknown.starts == 1 && unknown.completions == 1 && unknown.heads == 0)
        #expect(await driver.origins.isEmpty)
        await driver.end()
    }

    @Test func plainTextWhereTLSIsExpectedFails() async throws {
        let origin = try ScriptedOrigin { peer in peer.write("HTTP/1.1 400 No\r\n\r\n") }
        let driver = try await Driver()
        let outcome = try await driver.fetch(Ask("https://127.0.0.1:\(origin.port)/"))
        #expect(outcome.error?.code == .secureConnectionFailed)
        await driver.end()
        origin.end()
    }

    /// The origin answers the first request and ends its connection when it has read the second, as one does whose
    /// keep-alive time runs out at just that moment. Counts the heads that it has read.
    func outcomeOnADyingConnection(method: String) async throws -> (Outcome, heads: Int) {
        let heads = Counter()
        let origin = try ScriptedOrigin { peer in
            guard peer.readHead() != nil else { return }
            heads.add()
            peer.write(FaultTests.good)
            if peer.index == 0 {
                guard peer.readHead() != nil else { return }
                heads.add()
                return
            }
            while peer.readHead() != nil {
                heads.add()
                peer.write(FaultTests.good)
            }
        }
        let driver = try await Driver()
        #expect(try await driver.fetch(Ask(origin.url)).text == "good")
        var ask = Ask(origin.url)
        ask.method = method
        if method == "POST" || method == "PUT" { ask.body = Array("body".utf8) }
        let outcome = try await driver.fetch(ask)
        await driver.end()
        origin.end()
        return (outcome, heads.value)
    }

    @Test(arguments: ["GET", "PUT"]) func whatMayBeRepeatedIs(method: String) async throws {
        let (outcome, heads) = try await outcomeOnADyingConnection(method: method)
        #expect(outcome.error == nil)
        #expect(outcome.text == "good")
        #expect(outcome.heads == 1)
        #expect(!outcome.metrics.isReused)
        #expect(heads == 3)
    }

    @Test(arguments: ["POST", "PATCH"]) func whatMayNotBeRepeatedIsNot(method: String) async throws {
        let (outcome, heads) = try await outcomeOnADyingConnection(method: method)
        #expect(outcome.error?.code == .networkConnectionLost)
        #expect(outcome.error?.isRetryable == false)
        #expect(outcome.error?.message.contains("may have been processed") == true)
        #expect(heads == 2)
    }

    /// The connection breaks after libcurl has looked for a response and before it writes the rest of a body: reading
    /// does not fail, but writing.
    @Test(arguments: [("PUT", 3), ("POST", 2)])
    func whatCouldNotBeWrittenIsSentAgainIfItMayBeRepeated(method: String, heads expected: Int) async throws {
        let body = [UInt8](repeating: 7, count: 600_000)
        let (heads, half, broken) = (Counter(), Counter(), Counter())
        let origin = try ScriptedOrigin { peer in
            while let head = peer.readHead() {
                heads.add()
                if peer.index == 0, head.hasPrefix("P") {
                    // Less than half: libcurl may still have 64 KiB, and so much fits the sockets' buffers.
                    _ = peer.read(body.count / 2 - 70_000)
                    half.wait(for: 1)
                    peer.resetNow()
                    broken.add()
                    return
                }
                if head.hasPrefix("P") { _ = peer.read(body.count) }
                peer.write(FaultTests.good)
            }
        }
        let driver = try await Driver()
        #expect(try await driver.fetch(Ask(origin.url)).text == "good")
        var ask = Ask(origin.url)
        ask.method = method
        ask.body = body
        ask.onHalf = {
            half.add()
            broken.wait(for: 1)
        }
        let outcome = try await driver.fetch(ask)
        let isRepeated = expected == 3
        #expect(heads.value == expected)
        #expect(outcome.text == (isRepeated ? "good" : ""))
        #expect(outcome.error?.code == (isRepeated ? nil : .networkConnectionLost))
        // CURLE_SEND_ERROR.
        #expect(outcome.error?.curlCode == (isRepeated ? nil : 55))
        await driver.end()
        origin.end()
    }

    @Test func aSwitchOfProtocolsNobodyAskedForIsNoResponse() async throws {
        let outcome = try await outcome { peer in
            _ = peer.readHead()
            peer.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
        }
        #expect(outcome.error != nil)
        #expect(outcome.heads == 0)
    }
}
