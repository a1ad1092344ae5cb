import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// What a request's owner may do at any moment, and what late answers may not (session model §1.2, §1.3).
struct LifeCycleTests {
    /// The step for which a request's pipeline waits.
    private enum Wait: CaseIterable {
        case adapter, validator, retrier, backOff, serializer, redirect, headers, suspended
    }

    private final class Scene {
        let stage: Stage
        let interceptor = ScriptedInterceptor()
        let validator = ScriptedValidator("status")
        let serializer = ScriptedSerializer("json")
        let decider = OpenDecider()
        let request: Request

        init(waitingFor wait: Wait) throws {
            stage = try Stage()
            if wait == .adapter { interceptor.adaptations = [nil] }
            if wait == .retrier { interceptor.decisions = [nil] }
            if wait == .backOff { interceptor.decisions = [.retryWithDelay(milliseconds: 1_000)] }
            validator.isOpen = wait == .validator
            validator.error = wait == .retrier || wait == .backOff ? .scripted : nil
            serializer.isOpen = wait == .serializer
            var parameters = RequestParameters(url: "http://a.test/")
            parameters.interceptor = Interceptor(interceptors: [interceptor])
            parameters.validators = [validator]
            parameters.serializers = [serializer]
            parameters.redirect = RedirectHandler(.ask(decider))
            parameters.holdsForHeaders = wait == .headers
            request = stage.request(parameters)
            request.resume()
            if wait == .suspended { request.suspend() }
            switch wait {
            case .adapter: break
            case .redirect: stage.transport.respond(302, [("Location", "/to")])
            default: stage.transport.respond(200, body: wait == .headers || wait == .suspended ? "" : "{}")
            }
        }

        /// Sends all answers that are awaited.
        func answer() {
            if let urlRequest = request.urlRequest {
                for open in interceptor.openAdaptations { open(.success(urlRequest)) }
            }
            for open in validator.open { open(nil) }
            for open in interceptor.openDecisions { open(.retry) }
            for open in serializer.open { open(.success(.string("late"))) }
            for open in decider.open { open(.success(nil)) }
            stage.scheduler.advance(milliseconds: 10_000)
        }
    }

    @Test(
        "RL-04, RL-07: cancelled while it waits, it ends at once, and a late answer changes nothing",
        arguments: Wait.allCases)
    private func cancelWaiting(_ wait: Wait) throws {
        let scene = try Scene(waitingFor: wait)
        #expect(!scene.request.isFinished)
        var ends = 0
        scene.request.whenFinished { _ in ends += 1 }
        #expect(scene.request.cancel())
        #expect(scene.request.isFinished)
        #expect(scene.request.error?.name == "explicitly_cancelled")
        #expect(scene.request.state == .cancelled)
        let events = scene.stage.monitor.events
        let sent = scene.stage.transport.requests.count
        scene.answer()
        #expect(scene.stage.monitor.events == events)
        #expect(scene.stage.transport.requests.count == sent)
        #expect(ends == 1)
        #expect(scene.stage.session.activeCount == 0)
        #expect(scene.stage.session.taskCount == 0, "TM-06")
        #expect(scene.stage.scheduler.count == 0)
    }

    @Test("SE-19: a session that ends also ends its waiting requests", arguments: Wait.allCases)
    private func loseWaiting(_ wait: Wait) throws {
        let scene = try Scene(waitingFor: wait)
        scene.stage.session.invalidate(cancelling: true)
        #expect(scene.request.isFinished)
        #expect(scene.request.error?.name == "session_invalidated")
        #expect(scene.request.state == .finished)
        scene.answer()
        #expect(scene.stage.monitor.events.last == "session.didBecomeInvalid")
        #expect(scene.stage.monitor.events.filter { $0 == "session.didBecomeInvalid" }.count == 1)
        #expect(scene.stage.session.taskCount == 0)
    }

    @Test("An answer counts once, however often it is sent", arguments: Wait.allCases)
    private func answersTwice(_ wait: Wait) throws {
        let scene = try Scene(waitingFor: wait)
        scene.request.resume()
        scene.answer()
        scene.answer()
        while scene.stage.transport.running > 0 { scene.stage.transport.respond(200, body: "{}") }
        scene.answer()
        #expect(scene.request.isFinished)
        #expect(scene.stage.monitor.events.filter { $0.hasPrefix("didParseResponse") }.count == 1)
        #expect(scene.stage.session.activeCount == 0)
    }

    // MARK: Paused

    @Test("DR-03: the body waits behind the head; resume releases it, and causes no event")
    func hold() throws {
        let stage = try Stage()
        var parameters = RequestParameters(url: "http://a.test/")
        parameters.holdsForHeaders = true
        let request = stage.request(parameters)
        var heads: [Int?] = []
        request.whenHeadReceived { heads.append($0.response?.status) }
        request.resume()
        stage.transport.receive(200)
        #expect(heads == [200])
        #expect(request.isPausedAtHead)
        #expect(stage.transport.receive([1]) == .pause)
        _ = stage.monitor.take()
        #expect(request.resume())
        #expect(!request.resume())
        #expect(stage.monitor.events.isEmpty)
        #expect(stage.transport.resumed == [1])
        #expect(stage.transport.receive([1]) == .accept)
        stage.transport.complete()
        #expect(request.error == nil)
        #expect(heads == [200], "once")
    }

    @Test("DR-03: ended at its head, the record has the head and no body")
    func cancelHeld() throws {
        let stage = try Stage()
        let request = stage.send { $0.holdsForHeaders = true }
        stage.transport.receive(200)
        #expect(stage.transport.receive([1]) == .pause)
        request.cancel()
        stage.transport.completeCancelled()
        #expect(request.error?.name == "explicitly_cancelled")
        #expect(request.response?.status == 200)
        #expect(request.body.count == 0)
    }

    @Test("RL-03: the end of a transfer waits too while the request is suspended")
    func suspendedEnd() throws {
        let stage = try Stage()
        let request = stage.send()
        request.suspend()
        stage.transport.respond(204)
        #expect(!request.isFinished)
        #expect(request.state == .suspended)
        request.resume()
        #expect(request.isFinished)
        #expect(request.error == nil)
        #expect(stage.monitor.events.suffix(2) == ending[...])
    }

    @Test("RL-03: a failure of the network does not wait")
    func suspendedFailure() throws {
        let stage = try Stage()
        let request = stage.send()
        request.suspend()
        stage.transport.complete(TransportError(.networkConnectionLost, "gone"))
        #expect(request.isFinished)
        #expect(request.state == .finished)
    }

    // MARK: Serializers

    @Test("RL-17: serializers that are added later use the received body")
    func serializeLater() throws {
        let stage = try Stage()
        let request = stage.send()
        stage.transport.respond(200, body: "hello")
        _ = stage.monitor.take()
        var results: [SerializedResponse] = []
        request.serialize(by: [ScriptedSerializer("string"), ScriptedSerializer("json")]) { results = $0 }
        #expect(results.map(\.serializer) == ["string", "json"])
        #expect(stage.monitor.events == ["didParseResponse(string, success)", "didParseResponse(json, success)"])
        #expect(stage.transport.requests.count == 1)
        #expect(request.state == .finished)
    }

    @Test(
        "RL-18, RS-01: after a cancellation or a failure each serializer has that; another's failure does not count")
    func serializeFailed() throws {
        let stage = try Stage()
        let cancelled = stage.request(RequestParameters(url: "http://a.test/"))
        cancelled.cancel()
        let broken = ScriptedSerializer("json")
        broken.failures = [.scripted]
        let failed = stage.send { $0.serializers = [broken] }
        stage.transport.respond(200, body: "hello")
        #expect(failed.error?.name == "scripted")
        let expected = [(cancelled, "explicitly_cancelled"), (failed, nil)]
        for (request, name) in expected {
            var results: [SerializedResponse] = []
            request.serialize(by: [ScriptedSerializer("string")]) { results = $0 }
            #expect(results.map { $0.error?.name } == [name])
        }
    }

    @Test("RL-11: a retrier's own failure contains both; the attempt keeps the first")
    func retryFailure() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.doNotRetryWithError(SessionError("refused", "no more"))]
        let request = stage.send {
            $0.interceptor = Interceptor(interceptors: [interceptor])
            $0.validators = [ScriptedValidator("status", error: .scripted)]
        }
        stage.transport.respond(500)
        #expect(request.error?.name == "request_retry_failed")
        #expect(request.error?.cause("retry_error")?.name == "refused")
        #expect(request.error?.cause("original_error")?.name == "scripted")
        #expect(request.attempts.map { $0.error?.name } == ["scripted"])
    }

    @Test("A retry policy without validation has no effect, which causes a warning", arguments: [200, 404, 503])
    func warning(_ status: Int) throws {
        let stage = try Stage()
        let policy = Interceptor(interceptors: [Interceptor(interceptors: [PolicyRetrier(RetryPolicy())])])
        let request = stage.send { $0.interceptor = policy }
        stage.transport.respond(status)
        #expect((request.warning != nil) == (status == 503))
        let judged = stage.send {
            $0.interceptor = policy
            $0.validators = [ScriptedValidator("status")]
        }
        stage.transport.respond(status)
        #expect(judged.warning == nil)
    }

    @Test("The sent body is released at the end of the request; a short one is kept for its curl line")
    func bodies() throws {
        for count in [10, 20_000] {
            let stage = try Stage()
            let request = stage.send {
                $0.method = .post
                $0.body = .bytes([UInt8](repeating: 0x61, count: count))
            }
            stage.transport.respond(200)
            #expect(request.hasReleasedBody == (count == 20_000))
            if case .none = request.parameters.body {} else { Issue.record("the parameters keep it") }
            if case .bytes = request.urlRequest?.body { #expect(count == 10) } else { #expect(count == 20_000) }
        }
    }

    @Test("A retrier without end is stopped after a hundred attempts")
    func endlessRetries() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = Array(repeating: .retry, count: 1_000)
        let request = stage.send {
            $0.interceptor = Interceptor(interceptors: [interceptor])
            $0.validators = [ScriptedValidator("status", error: .scripted)]
        }
        for _ in 0..<200 {
            stage.transport.respond(500)
            stage.scheduler.advance(milliseconds: 0)
        }
        #expect(request.isFinished)
        #expect(request.attempts.count == 100)
        #expect(stage.transport.requests.count == 100)
    }
}
