import CarpoolHTTP
import Glibc
import Testing

/// Time limits, cancelling, pausing.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct FlowTests {
    let nginx: Nginx
    let trust: ServerTrust

    init() throws {
        nginx = try Nginx.shared.get()
        trust = try .authorities(file: nginx.authority)
    }

    /// An origin that reads and never answers.
    func silentOrigin() throws -> ScriptedOrigin {
        try ScriptedOrigin { peer in
            _ = peer.readHead()
            peer.waitForEnd()
        }
    }

    @Test func silenceEndsATransfer() async throws {
        let origin = try silentOrigin()
        let driver = try await Driver()
        var ask = Ask(origin.url)
        ask.idle = 150
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error?.code == .timedOut)
        #expect(outcome.error?.timeout == "idle")
        #expect(outcome.metrics.endMicroseconds >= 149_000 && outcome.metrics.endMicroseconds < 5_000_000)
        await driver.end()
        origin.end()
    }

    @Test func aHostThatDoesNotAnswerIsAConnectTimeout() async throws {
        let (listener, port) = try LoopbackSocket.listen(backlog: 0)
        // The kernel completes connections by itself until the backlog is full; the TLS handshake is never answered.
        defer { _ = listener }
        let driver = try await Driver()
        var ask = Ask("https://127.0.0.1:\(port)/")
        ask.connect = 150
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error?.code == .timedOut)
        #expect(outcome.error?.timeout == "connect")
        #expect(outcome.error?.isRetryable == true)
        await driver.end()
    }

    @Test func theWholeHasItsOwnLimit() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/slow")
        ask.resource = 300
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error?.code == .timedOut)
        #expect(outcome.error?.timeout == "resource")
        #expect(!outcome.body.isEmpty)
        await driver.end()
    }

    @Test func waitingForATurnIsNotSilence() async throws {
        var configuration = TransportConfiguration()
        configuration.connectionsPerHost = 1
        let driver = try await Driver(configuration)
        var slow = Ask(nginx.http + "/slow")
        slow.resource = 600
        var next = Ask(nginx.http + "/hello")
        next.idle = 300
        next.connect = 300
        let outcomes = try await driver.fetchAll([slow, next])
        #expect(outcomes[0].error?.timeout == "resource")
        #expect(outcomes[1].error == nil)
        await driver.end()
    }

    @Test(arguments: Ask.CancelMoment.allCases, [false, true])
    func canBeCancelledAtAnyMoment(moment: Ask.CancelMoment, isSecure: Bool) async throws {
        let driver = try await Driver()
        var ask = Ask((isSecure ? nginx.https : nginx.http) + "/big")
        ask.trust = trust
        ask.cancel = moment
        let outcome = try await driver.fetch(ask)
        #expect(outcome.completions == 1)
        #expect(outcome.error?.code == (moment == .afterEnd ? nil : .cancelled))
        #expect(outcome.error?.isRetryable != true)
        if moment == .atHead { #expect(outcome.body.isEmpty) }
        ask.cancel = nil
        ask.url = ask.url.replacing("/big", with: "/hello")
        #expect(try await driver.fetch(ask).text == "hello")
        #expect(await driver.origins.allSatisfy { $0.active == 0 && $0.queued == 0 })
        await driver.end()
    }

    @Test func canBeCancelledWhileItWaits() async throws {
        var configuration = TransportConfiguration()
        configuration.connectionsPerHost = 1
        let driver = try await Driver(configuration)
        let origin = try silentOrigin()
        var first = Ask(origin.url)
        first.idle = 300
        var second = Ask(origin.url)
        second.cancel = .beforeTurn
        let outcomes = try await driver.fetchAll([first, second])
        #expect(outcomes[1].error?.code == .cancelled)
        #expect(outcomes[1].starts == 0)
        #expect(outcomes[0].error?.timeout == "idle")
        await driver.end()
        origin.end()
    }

    @Test func aDelegateMayWantNoMore() async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.http + "/big")
        ask.disposition = .stop
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error?.code == .cancelled)
        #expect(outcome.heads == 1)
        await driver.end()
    }

    @Test(arguments: [false, true]) func aPausedTransferLosesNothing(isSecure: Bool) async throws {
        let driver = try await Driver()
        var ask = Ask((isSecure ? nginx.https : nginx.http) + "/big")
        ask.trust = trust
        ask.disposition = .pauseOnce
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error == nil)
        #expect(outcome.pauses == 1)
        #expect(outcome.body.count == 3_000_000)
        await driver.end()
    }

    @Test(arguments: [false, true]) func bytesBeforeABreakOffAreKeptThroughPauses(isLong: Bool) async throws {
        let origin = try ScriptedOrigin { peer in
            guard peer.readHead() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 200001\r\n\r\n" + String(repeating: "x", count: 200_000))
        }
        let driver = try await Driver()
        for length in [1, 100_000, 200_000] {
            var ask = Ask(origin.url)
            ask.isLong = isLong
            ask.disposition = .pauseAt(length)
            let outcome = try await driver.fetch(ask)
            #expect(outcome.pauses == 3)
            #expect(outcome.length == 200_000)
            #expect(outcome.error?.code == .networkConnectionLost)
        }
        await driver.end()
        origin.end()
    }

    @Test(arguments: [false, true]) func aPauseIsQuietAndIsNotSilence(isSecure: Bool) async throws {
        let driver = try await Driver()
        var ask = Ask((isSecure ? nginx.https : nginx.http) + "/big")
        ask.trust = trust
        ask.disposition = .pauseForEver
        ask.idle = 200
        ask.resource = 1_000
        let before = await driver.turns
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error?.timeout == "resource")
        #expect(await driver.turns - before < 100)
        await driver.end()
    }

    /// What the sockets on the way to an origin behind a proxy hold at most, of which machines have 20 to 600 MB.
    private func bufferBytes() -> Int {
        let files = ["/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"]
        let maxima = files.compactMap { path -> Int? in
            guard let file = fopen(path, "r") else { return nil }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 128)
            guard fgets(&line, 128, file) != nil else { return nil }
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            return text.split { $0.isWhitespace }.last.flatMap { Int($0) }
        }
        return 2 * maxima.reduce(0, +)
    }

    @Test(arguments: [HTTPVersionPolicy.http1, .http2])
    func anUploadThatNobodyReadsIsQuiet(version: HTTPVersionPolicy) async throws {
        let driver = try await Driver()
        var ask = Ask(nginx.https + "/stall")
        ask.trust = trust
        ask.version = version
        ask.method = "PUT"
        let length = 20_000_000 + bufferBytes()
        let path = nginx.directory + "/sparse"
        #expect(close(open(path, O_CREAT | O_WRONLY, 0o600)) == 0 && truncate(path, length) == 0)
        ask.file = (path, 0, Int64(length))
        ask.idle = 2_000
        let outcome = try await driver.fetch(ask)
        #expect(outcome.error?.timeout == "idle")
        #expect(outcome.sentBodyBytes < length)
        let turns = await driver.turns
        #expect(turns < 2_000)
        await driver.end()
    }

    @Test func twoThousandWithEveryTenthCancelledLeaveNothingBehind() async throws {
        let driver = try await Driver()
        let asks = (0..<2_000).map { index in
            var ask = Ask(nginx.https + (index % 3 == 0 ? "/big" : "/hello"))
            ask.trust = trust
            if index % 3 == 0 { ask.disposition = .stop }
            if index % 10 == 0 { ask.cancel = Ask.CancelMoment.allCases[index / 10 % 6] }
            return ask
        }
        let outcomes = try await driver.fetchAll(asks)
        #expect(outcomes.allSatisfy { $0.completions == 1 })
        #expect(outcomes.enumerated().allSatisfy { $0 % 3 == 0 || $0 % 10 == 0 || $1.text == "hello" })
        let statistics = await driver.statistics
        #expect(statistics.finishedTransfers == 2_000)
        #expect(await driver.origins.allSatisfy { $0.active == 0 && $0.queued == 0 })
        _ = await driver.closeIdle()
        await driver.allConnectionsClosed()
        await driver.end()
    }
}
