import CarpoolHTTP
import CarpoolSession
import Glibc
import Testing

/// Requests that wait for a way to their host (EM-08, SE-27).
struct WaitingTests {
    let network = ScriptedConnectivity()
    let stage: Stage

    init() throws { stage = try Stage(connectivity: network) }

    /// A request that waits, and has been told to.
    func waiting(_ url: String = "http://a.test/", _ change: (inout RequestParameters) -> Void = { _ in }) -> Request {
        let request = stage.send(url) {
            $0.waitsForConnectivity = true
            change(&$0)
        }
        stage.scheduler.advance(milliseconds: 0)
        return request
    }

    private let told = "task.isWaitingForConnectivity(no_carrier)"
    private let offline = TransportError(
        .notConnectedToInternet, "no route", systemCode: ENETUNREACH, isRetryable: true)

    @Test func waitsHeldUpAndGoesWhenThereIsAWay() {
        network.lose()
        let request = waiting()
        #expect(stage.monitor.take() == beginning + [told])
        #expect(stage.transport.stopped == [1], "the transport counts the resource's time, and sends nothing")
        #expect(stage.transport.resumed.isEmpty)
        network.comeBack()
        #expect(stage.transport.resumed == [1])
        #expect(!stage.transport.requests[0].needsFreshConnection)
        #expect(network.waiting == 0)
        stage.transport.respond(200, body: "hello")
        #expect(request.text == "hello")
        #expect(request.attempts[0].hops.count == 1)
    }

    @Test func doesNotWaitUnlessAsked() {
        network.lose()
        let request = stage.send()
        stage.scheduler.advance(milliseconds: 0)
        #expect(stage.transport.stopped.isEmpty, "what the network is like keeps nobody from trying (NR-12)")
        #expect(stage.transport.requests[0].needsFreshConnection, "but over an old connection it would hear nothing")
        stage.transport.complete(offline)
        #expect(request.error?.name == "session_task_failed.not_connected_to_internet")
        #expect(stage.monitor.events.contains(told) == false)
    }

    @Test func theSessionDecidesWhereTheRequestDoesNot() throws {
        var configuration = SessionConfiguration()
        configuration.waitsForConnectivity = true
        let stage = try Stage(configuration, connectivity: network)
        network.lose()
        _ = stage.send()
        let other = stage.send { $0.waitsForConnectivity = false }
        #expect(stage.transport.stopped == [1])
        other.cancel()
    }

    @Test func aChangeThatBringsNoWayStartsNothing() {
        network.lose()
        _ = waiting()
        network.set(nil, to: "other.test")
        #expect(stage.transport.resumed.isEmpty)
        #expect(network.waiting == 1)
    }

    @Test func canBeCancelledAndRunOutOfTime() {
        network.lose()
        let one = waiting()
        one.cancel()
        #expect(stage.transport.cancelled == [1])
        stage.transport.completeCancelled()
        #expect(one.isFinished && network.waiting == 0)
        let other = waiting()
        stage.transport.complete(TransportError(.timedOut, "not done", timeout: "resource"))
        #expect(other.error?.transport?.timeout == "resource")
        #expect(network.waiting == 0)
        network.comeBack()
        #expect(stage.transport.resumed.isEmpty)
    }

    @Test func asSuspendedAsItWas() {
        network.lose()
        let request = waiting()
        request.suspend()
        network.comeBack()
        #expect(stage.transport.resumed.isEmpty)
        request.resume()
        #expect(stage.transport.resumed == [1])
        request.cancel()
        stage.transport.completeCancelled()
    }

    @Test func whatTheKernelRefusesWaitsToo() {
        // A name may stand for a neighbour although there is no way to the world: only trying tells.
        var path = NetworkPath.none("no_route")
        path.mayBeNearby = true
        network.set(path, to: "near.test")
        let request = waiting("http://near.test/") { $0.resourceTimeoutMilliseconds = 10_000 }
        #expect(stage.transport.stopped.isEmpty)
        stage.transport.complete(TransportError(.cannotFindHost, "no answer"), microseconds: 4_000_000)
        stage.scheduler.advance(milliseconds: 0)
        #expect(stage.monitor.events.last == "task.isWaitingForConnectivity(no_route)")
        #expect(stage.transport.running == 1)
        let starts = stage.transport.requests.map(\.resourceStart)
        #expect(starts[0] != nil && starts == [starts[0], starts[0]])
        network.set(NetworkPath(.satisfied), to: "near.test")
        #expect(stage.transport.resumed == [2])
        stage.transport.respond(200)
        #expect(request.error == nil)
        #expect(request.attempts[0].hops.count == 1, "what was not sent is no hop")
        #expect(stage.monitor.events.count { $0 == "task.didCollectMetrics" } == 1)
    }

    @Test func aContradictionComesToAnEnd() {
        let request = waiting()
        for _ in 0..<3 {
            stage.transport.complete(offline)
            #expect(!request.isFinished)
        }
        stage.transport.complete(offline)
        #expect(request.error?.name == "session_task_failed.not_connected_to_internet")
        #expect(stage.transport.transfers.count == 4)
    }

    @Test func whatWasSentDoesNotWait() {
        let request = waiting()
        network.lose()
        stage.transport.begin()
        stage.transport.complete(offline, wasSent: true)
        #expect(request.isFinished)
    }

    @Test func aRedirectToWhereThereIsNoWayWaits() {
        let request = waiting()
        network.set(.none("no_route"), to: "far.test")
        stage.transport.respond(302, [("Location", "http://far.test/")])
        stage.scheduler.advance(milliseconds: 0)
        #expect(stage.transport.stopped == [2])
        #expect(stage.monitor.events.last == "task.isWaitingForConnectivity(no_route)")
        network.set(nil, to: "far.test")
        stage.transport.respond(200)
        #expect(request.error == nil && request.attempts[0].hops.count == 2)
    }

    @Test func aSessionThatEndsTakesItAlong() {
        network.lose()
        let request = waiting()
        stage.session.invalidate(cancelling: true)
        stage.transport.completeCancelled()
        #expect(request.error?.name == "session_invalidated")
        #expect(network.waiting == 0)
    }

    @Test func aHundredGoInTheirOrder() {
        network.lose()
        let requests = (0..<100).map { _ in waiting() }
        network.comeBack()
        #expect(stage.transport.resumed == Array(1...100))
        for request in requests { request.cancel() }
    }
}
