import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// The canonical orders of the session model, §2: what a monitor inside the session sees.
struct EventOrderTests {
    private static let attempt = [
        "didCreateInitialURLRequest", "didAdaptInitialRequest", "didCreateURLRequest", "didCreateTask", "didResumeTask",
    ]
    private static let failedAttempt =
        attempt + ["data.didReceiveResponse(500)"] + metrics + [
            "task.didComplete(null)", "didValidate(status, scripted)", "didCompleteTask(null)",
        ]

    @Test("§2.1: a GET with validators, an adapter and two serializers")
    func success() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        let request = stage.send {
            $0.interceptor = Interceptor(interceptors: [interceptor])
            $0.validators = [ScriptedValidator("status"), ScriptedValidator("content_type")]
            $0.serializers = [ScriptedSerializer("first"), ScriptedSerializer("second")]
        }
        stage.transport.respond(200, body: "hello")
        #expect(
            stage.monitor.events == ["requestDidResume"] + Self.attempt + [
                "data.didReceiveResponse(200)", "data.didReceiveData(5)",
            ] + metrics + [
                "task.didComplete(null)", "didValidate(status, success)", "didValidate(content_type, success)",
                "didCompleteTask(null)", "requestDidFinish", "didParseResponse(first, success)",
                "didParseResponse(second, success)",
            ])
        #expect(request.results.map(\.serializer) == ["first", "second"])
    }

    @Test("§2.2, RL-12, VA-09: 500, 500, 200 with a retrier; the delays are the retrier's", arguments: [200, 500])
    func retries(_ last: Int) throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retryWithDelay(milliseconds: 500), .retryWithDelay(milliseconds: 1_000)]
        let validator = ScriptedValidator("status", error: .scripted)
        let request = stage.send {
            $0.interceptor = Interceptor(interceptors: [interceptor])
            $0.validators = [validator, ScriptedValidator("content_type")]
        }
        stage.transport.respond(500)
        stage.scheduler.advance(milliseconds: 499)
        #expect(stage.monitor.events == ["requestDidResume"] + Self.failedAttempt, "it waits for its time")
        stage.scheduler.advance(milliseconds: 1)
        stage.transport.respond(500)
        stage.scheduler.advance(milliseconds: 1_000)
        if last == 200 { validator.error = nil }
        stage.transport.respond(last)
        var expected = ["requestDidResume"] + Self.failedAttempt + ["requestIsRetrying(1)"] + Self.failedAttempt
        expected += ["requestIsRetrying(2)"]
        if last == 200 {
            expected += Self.attempt + ["data.didReceiveResponse(200)"] + metrics
            expected += [
                "task.didComplete(null)", "didValidate(status, success)", "didValidate(content_type, success)",
                "didCompleteTask(null)",
            ]
            expected += ending
        } else {
            expected += Self.failedAttempt + ending("scripted")
        }
        #expect(stage.monitor.events == expected)
        #expect(request.attempts.map { $0.error?.name } == ["scripted", "scripted", last == 200 ? nil : "scripted"])
        #expect(request.retryCount == 2)
        #expect(interceptor.adapted == 3, "RI-08: every attempt starts from the fresh request")
        #expect(
            stage.transport.requests.map { $0.fields.filter { $0.hasName("X-A") }.map(\.value) } == [
                ["1"], ["2"], ["3"],
            ])
        #expect(stage.scheduler.count == 0)
    }

    @Test("§2.3, RL-16: a serializer's failure has the request sent again")
    func serializerRetry() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retry]
        let serializer = ScriptedSerializer("json")
        serializer.failures = [.scripted]
        let request = stage.send {
            $0.interceptor = Interceptor(interceptors: [interceptor])
            $0.serializers = [serializer]
        }
        var ended = 0
        request.whenFinished { _ in ended += 1 }
        stage.transport.respond(200)
        #expect(ended == 0)
        stage.scheduler.advance(milliseconds: 0)
        stage.transport.respond(200)
        let tail =
            ["data.didReceiveResponse(200)"] + metrics + [
                "task.didComplete(null)", "didCompleteTask(null)", "requestDidFinish",
            ]
        #expect(
            stage.monitor.events == ["requestDidResume"] + Self.attempt + tail + [
                "didParseResponse(json, scripted)", "requestIsRetrying(1)",
            ] + Self.attempt + tail + ["didParseResponse(json, success)"])
        #expect(ended == 1)
        #expect(request.error == nil)
        #expect(interceptor.asked.map(\.name) == ["scripted"])
    }

    @Test("§2.4 (d), RL-07: cancelled while it backs off, it ends at once and is never sent again")
    func cancelInBackOff() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retryWithDelay(milliseconds: 60_000)]
        let request = stage.send {
            $0.interceptor = Interceptor(interceptors: [interceptor])
            $0.validators = [ScriptedValidator("status", error: .scripted)]
        }
        stage.transport.respond(500)
        _ = stage.monitor.take()
        #expect(request.cancel())
        #expect(stage.monitor.events == ["requestDidCancel"] + ending("explicitly_cancelled"))
        #expect(request.isFinished)
        #expect(request.attempts.map { $0.error?.name } == ["scripted"])
        stage.scheduler.advance(milliseconds: 120_000)
        #expect(stage.transport.requests.count == 1)
        #expect(stage.scheduler.count == 0)
    }

    @Test("§2.5, RL-03: suspended and resumed in flight; a hundred calls are one")
    func suspendInFlight() throws {
        let stage = try Stage()
        let request = stage.send()
        #expect((0..<100).map { _ in request.suspend() } == [true] + Array(repeating: false, count: 99))
        #expect(stage.transport.stopped == [1])
        stage.transport.receive(200)
        #expect(stage.transport.receive([1]) == .pause)
        #expect((0..<100).map { _ in request.resume() } == [true] + Array(repeating: false, count: 99))
        #expect(stage.transport.resumed == [1])
        #expect(stage.transport.receive([1]) == .accept)
        stage.transport.complete()
        #expect(
            stage.monitor.events == beginning + [
                "requestDidSuspend", "didSuspendTask", "data.didReceiveResponse(200)", "requestDidResume",
                "didResumeTask", "data.didReceiveData(1)",
            ] + metrics + ["task.didComplete(null)", "didCompleteTask(null)"] + ending)
    }

    @Test("§2.5: suspended before the task exists, the task is made and waits")
    func suspendBeforeTask() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.adaptations = [nil]
        let request = stage.send { $0.interceptor = Interceptor(interceptors: [interceptor]) }
        #expect(request.suspend())
        let initial = try #require(request.urlRequest)
        interceptor.openAdaptations[0](.success(initial))
        #expect(
            stage.monitor.events == [
                "requestDidResume", "didCreateInitialURLRequest", "requestDidSuspend", "didAdaptInitialRequest",
                "didCreateURLRequest", "didCreateTask", "didSuspendTask",
            ])
        #expect(stage.transport.requests.isEmpty)
        _ = stage.monitor.take()
        #expect(request.resume())
        #expect(stage.monitor.events == ["requestDidResume", "didResumeTask"])
        stage.transport.respond(200)
        #expect(request.error == nil)
    }

    @Test("§2.12: an adapter's failure, and what an adapter must not make", arguments: [false, true])
    func adaptationFailure(_ makesBadRequest: Bool) throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        var bad = TransportRequest(method: .get, url: try HTTPURL("http://a.test/"))
        bad.body = .bytes([1])
        interceptor.adaptations = [makesBadRequest ? .success(bad) : .failure(.scripted)]
        let request = stage.send { $0.interceptor = Interceptor(interceptors: [interceptor]) }
        let cause = makesBadRequest ? "url_request_validation_failed.body_data_in_get_request" : "scripted"
        #expect(
            stage.monitor.events == [
                "requestDidResume", "didCreateInitialURLRequest", "didFailToAdaptURLRequest(\(cause))",
            ] + ending("request_adaptation_failed"))
        #expect(request.urlRequest != nil)
        #expect(request.response == nil)
        #expect(interceptor.asked.map(\.name) == ["request_adaptation_failed"], "RI-10")
    }

    @Test("§2.12, RL-09: an adapter that fails once, with a retrier that wants it again")
    func adaptationRetry() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.adaptations = [.failure(.scripted)]
        interceptor.decisions = [.retry]
        let request = stage.send { $0.interceptor = Interceptor(interceptors: [interceptor]) }
        stage.scheduler.advance(milliseconds: 0)
        #expect(
            stage.monitor.events == [
                "requestDidResume", "didCreateInitialURLRequest", "didFailToAdaptURLRequest(scripted)",
                "requestIsRetrying(1)",
            ] + Self.attempt)
        stage.transport.respond(200)
        #expect(request.error == nil)
        #expect(request.retryCount == 1)
        #expect(request.attempts.map { $0.error?.name } == ["request_adaptation_failed", nil])
    }

    @Test("SE-11: set up eagerly, all is there but the sending")
    func eager() throws {
        let stage = try Stage()
        var parameters = RequestParameters(url: "http://a.test/")
        parameters.setup = .eager
        let request = stage.request(parameters)
        request.setUp()
        request.setUp()
        #expect(stage.monitor.take() == ["didCreateInitialURLRequest", "didCreateURLRequest", "didCreateTask"])
        #expect(stage.transport.requests.isEmpty)
        #expect(request.state == .initialized)
        request.resume()
        #expect(stage.monitor.events == ["requestDidResume", "didResumeTask"])
        #expect(stage.transport.requests.count == 1)
    }
}
