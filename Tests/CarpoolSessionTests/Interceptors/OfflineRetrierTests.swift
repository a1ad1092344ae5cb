import CarpoolHTTP
import CarpoolSession
import Testing

/// RT-12, and the retry of requests that lost their connection.
struct OfflineRetrierTests {
    let network = ScriptedConnectivity()
    let stage: Stage

    private let offline = TransportError(.notConnectedToInternet, "no route")
    private let lost = TransportError(.networkConnectionLost, "gone")

    init() throws { stage = try Stage(connectivity: network) }

    private func send(
        _ method: HTTPMethod = .get, fields: [HTTPField] = [], waits: Int = 5_000, codes: Set<Int> = [-1_009]
    ) -> Request {
        let retrier = OfflineRetrier(
            connectivity: network, scheduler: stage.scheduler, waitMilliseconds: waits, codes: codes)
        return stage.send {
            $0.method = method
            $0.fields = fields
            $0.interceptor = Interceptor(retriers: [retrier])
        }
    }

    @Test("RT-12: an offline failure is retried at once when there is a route", arguments: [HTTPMethod.get, .post])
    func backInTime(method: HTTPMethod) {
        network.lose()
        let request = send(method)
        stage.transport.complete(offline)
        stage.scheduler.advance(milliseconds: 4_900)
        #expect(stage.transport.running == 0 && !request.isFinished)
        network.comeBack()
        stage.scheduler.advance(milliseconds: 0)
        stage.transport.respond(200)
        #expect(request.error == nil && request.retryCount == 1)
        #expect(network.waiting == 0 && stage.scheduler.count == 0)
    }

    @Test("A POST is not sent again when a redirect led to the host without a route", arguments: [true, false])
    func afterRedirect(_ hasRoute: Bool) throws {
        for (method, key, isRetried) in [(HTTPMethod.post, false, false), (.post, true, true), (.get, false, true)] {
            if !hasRoute { network.lose() }
            let request = send(method, fields: key ? [try HTTPField(name: "Idempotency-Key", value: "k")] : [])
            stage.transport.respond(303, [("Location", "http://b.test/")])
            stage.transport.complete(offline)
            network.comeBack()
            stage.scheduler.advance(milliseconds: 0)
            #expect((request.retryCount == 1) == isRetried && request.isFinished == !isRetried)
            request.cancel()
            stage.transport.completeCancelled()
        }
    }

    @Test("A POST is sent again when its credentials were asked for before: it was not carried out")
    func afterChallenge() {
        let request = stage.send {
            $0.method = .post
            $0.credential = PasswordCredential(user: "u", password: "p")
            $0.interceptor = Interceptor(retriers: [OfflineRetrier(connectivity: network, scheduler: stage.scheduler)])
        }
        stage.transport.respond(401, [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")])
        stage.transport.complete(offline)
        stage.scheduler.advance(milliseconds: 0)
        #expect(request.retryCount == 1)
        request.cancel()
    }

    @Test("RT-12: it keeps its failure at the timeout")
    func tooLate() {
        network.lose()
        let request = send()
        stage.transport.complete(offline)
        stage.scheduler.advance(milliseconds: 5_000)
        #expect(request.error?.name == "session_task_failed.not_connected_to_internet")
        #expect(request.retryCount == 0 && network.waiting == 0)
    }

    /// Lets a request wait until it ends in that way; returns it as long as something keeps it in memory.
    private static func wait(until end: String) throws -> () -> Request? {
        let tests = try OfflineRetrierTests()
        tests.network.lose()
        let request = tests.send()
        tests.stage.transport.complete(tests.offline)
        switch end {
        case "path":
            tests.network.comeBack()
            tests.stage.scheduler.advance(milliseconds: 0)
            tests.stage.transport.respond(200)
        case "limit": tests.stage.scheduler.advance(milliseconds: 5_000)
        default: request.cancel()
        }
        #expect(request.isFinished)
        return { [weak request] in request }
    }

    @Test("A request that has waited for a path is not kept in memory", arguments: ["path", "limit", "cancellation"])
    func memory(_ end: String) throws {
        let kept = try Self.wait(until: end)
        #expect(kept() == nil)
    }

    @Test("Each request waits its own time")
    func ownTime() {
        network.lose()
        let first = send()
        stage.transport.complete(offline)
        stage.scheduler.advance(milliseconds: 3_000)
        let second = send()
        stage.transport.complete(offline)
        stage.scheduler.advance(milliseconds: 2_000)
        #expect(first.isFinished && !second.isFinished)
        second.cancel()
        #expect(network.waiting == 0 && stage.scheduler.count == 0)
    }

    @Test("With a route it is retried at once, but once for each state of the network")
    func contradiction() {
        let request = send()
        stage.transport.complete(offline)
        stage.scheduler.advance(milliseconds: 0)
        #expect(request.retryCount == 1)
        stage.transport.complete(offline)
        stage.scheduler.advance(milliseconds: 0)
        #expect(request.isFinished && request.retryCount == 1)
    }

    @Test("Other failures are passed to the next retrier")
    func others() {
        for error in [TransportError(.cannotFindHost, "?"), lost, TransportError(.timedOut, "late")] {
            let request = send()
            stage.transport.complete(error)
            #expect(request.isFinished && request.retryCount == 0)
        }
    }

    @Test("The handled failures can be configured")
    func codes() {
        let request = send(codes: [-1_003])
        stage.transport.complete(TransportError(.cannotFindHost, "?"))
        stage.scheduler.advance(milliseconds: 0)
        #expect(request.retryCount == 1)
        request.cancel()
    }

    @Test("A request that lost its connection is retried once, when the network is back")
    func lostUnderWay() {
        let request = send()
        network.lose()
        stage.transport.complete(lost)
        #expect(!request.isFinished)
        network.comeBack()
        stage.scheduler.advance(milliseconds: 100)
        #expect(request.retryCount == 1)
        network.lose()
        stage.transport.complete(lost)
        #expect(request.isFinished)
        #expect(request.error?.name == "session_task_failed.network_connection_lost")
    }

    @Test("A POST that lost its connection is not, unless it has a key")
    func post() throws {
        let plain = send(.post)
        network.lose()
        stage.transport.complete(lost)
        #expect(plain.isFinished && plain.retryCount == 0)
        network.comeBack()
        let keyed = send(.post, fields: [try HTTPField(name: "Idempotency-Key", value: "k")])
        network.lose()
        stage.transport.complete(lost)
        network.comeBack()
        stage.scheduler.advance(milliseconds: 100)
        #expect(keyed.retryCount == 1)
        keyed.cancel()
    }
}
