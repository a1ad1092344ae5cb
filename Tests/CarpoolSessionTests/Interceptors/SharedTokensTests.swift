import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct SharedTokensTests {
    /// An account with room for so many bytes.
    private final class Memory: SharedMemory {
        static let most = 1_048_576
        private(set) var counted = 0

        func count(_ bytes: Int, for owner: any SharedMemoryOwner) -> Bool {
            guard bytes <= Memory.most else { return false }
            counted = bytes
            return true
        }
    }

    private let memory = Memory()
    private let stage: Stage
    /// The session that sends the token requests.
    private let own: Stage
    private let tokens: SharedTokens

    init() throws {
        stage = try Stage()
        own = try Stage()
        tokens = SharedTokens(session: own.session, memory: memory) { "r_token" }
    }

    private func source(scope: String = "s", secret: String = "x") throws -> TokenSource {
        TokenSource(
            url: try HTTPURL("https://auth.test/token"),
            client: TokenEndpointRefresher.Client(
                identifier: "me", secret: secret, scope: scope, grant: .clientCredentials, authentication: .basic))
    }

    /// Sends a request with a token of the source.
    private func send(
        _ source: TokenSource, _ change: (inout RequestParameters) -> Void = { _ in }
    ) -> Request {
        stage.send {
            $0.interceptor = TokenInterceptor(source, in: tokens)
            change(&$0)
        }
    }

    private func answer(_ token: String) { own.transport.respond(200, body: #"{"access_token":"\#(token)"}"#) }

    private var sent: [String?] {
        stage.transport.requests.map { $0.fields.first { $0.isNamed("authorization") }?.value }
    }

    @Test("Equal sources share one token request, others have their own")
    func sharing() throws {
        _ = [send(try source()), send(try source()), send(try source(scope: "other"))]
        #expect(own.transport.requests.count == 2)
        answer("other")
        #expect(sent == ["Bearer other"])
        #expect(tokens.count == 2)
        _ = send(try source(scope: "other"))
        #expect(sent == ["Bearer other", "Bearer other"])
        #expect(own.transport.requests.count == 2)
    }

    @Test("A request with another trust has a token of its own, which is requested with it")
    func connections() throws {
        _ = send(try source())
        _ = send(try source()) { $0.trust = ServerTrust.none }
        _ = send(try source()) { $0.trust = ServerTrust.none }
        let trusts = own.transport.requests.map { $0.partition.trust }
        #expect(trusts.count == 2 && trusts.first != trusts.last)
    }

    @Test("At most so many are kept; a request that waits for a forgotten one gets it")
    func bounds() throws {
        let request = send(try source(scope: "first"))
        for number in 0..<SharedTokens.maximumCount { _ = send(try source(scope: "\(number)")) }
        #expect(tokens.count == SharedTokens.maximumCount)
        let waiting = own.transport.transfers[0]
        waiting.delegate?.transfer(waiting, didReceive: .make(200, []))
        _ = Array(#"{"access_token":"late"}"#.utf8).withUnsafeBytes {
            waiting.delegate?.transfer(waiting, didReceive: $0)
        }
        waiting.delegate?.transferDidComplete(waiting, TransferCompletion(error: nil, metrics: TransferMetrics()))
        #expect(sent == ["Bearer late"])
        #expect(request.error == nil)
        let long = String(repeating: "x", count: Memory.most / 2)
        for secret in ["1", "2", "3"] { _ = send(try source(secret: long + secret)) }
        #expect(tokens.count == 1)
    }

    @Test("The tokens count when they have arrived: then the one that was used least recently is forgotten")
    func longTokens() throws {
        let long = String(repeating: "t", count: 60_000)
        let most = Memory.most / long.utf8.count
        for number in 0...most {
            _ = send(try source(scope: "\(number)"))
            answer(long)
        }
        #expect(tokens.count == most)
        #expect(memory.counted > most * 60_000)
    }

    @Test("When others need the room, the half that was not used for the longest time is forgotten")
    func halved() throws {
        for number in 0..<5 {
            _ = send(try source(scope: "\(number)"))
            answer("\(number)")
        }
        let before = memory.counted
        #expect(before > 5 * 1_024)
        tokens.removeHalf()
        #expect(tokens.count == 2)
        #expect(memory.counted < before / 2)
        _ = send(try source(scope: "4"))
        #expect(sent.last == "Bearer 4")
        tokens.removeHalf()
        tokens.removeHalf()
        #expect(tokens.count == 0 && memory.counted == 0)
    }

    @Test("Tokens that have expired are forgotten when another one is requested")
    func expiredTokens() throws {
        for number in 0..<3 {
            _ = send(try source(scope: "\(number)"))
            own.transport.respond(200, body: #"{"access_token":"t","expires_in":-5}"#)
        }
        #expect(sent.count == 3 && tokens.count == 1)
        _ = send(try source(scope: "waits"))
        _ = send(try source(scope: "waits too"))
        #expect(tokens.count == 2)
    }

    @Test("A refusal is answered with one new token; the second one is the response")
    func refusals() throws {
        let request = send(try source())
        answer("a")
        stage.transport.respond(401)
        #expect(own.transport.requests.count == 2)
        answer("b")
        stage.scheduler.advance(milliseconds: 1)
        #expect(sent == ["Bearer a", "Bearer b"])
        stage.transport.respond(401, body: "no")
        #expect(request.isFinished && request.error == nil && request.response?.status == 401)
        #expect(own.transport.requests.count == 2)
    }

    @Test("No client reads the token")
    func hidden() throws {
        let request = send(try source())
        answer("a")
        let fields = try #require(request.urlRequest?.fields)
        #expect(request.shown(fields).map(\.value) == ["(hidden)"])
    }
}
