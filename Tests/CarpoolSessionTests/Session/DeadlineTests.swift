import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// The time limit of a request while no transfer runs, and from one transfer to the next.
struct DeadlineTests {
    private static func send(_ stage: Stage, _ change: (inout RequestParameters) -> Void = { _ in }) -> Request {
        stage.send {
            $0.resourceTimeoutMilliseconds = 1_500
            change(&$0)
        }
    }

    /// The request is over at its deadline, and not before.
    private static func expectTimeout(_ request: Request, _ stage: Stage, of wait: String) {
        stage.scheduler.advance(milliseconds: 1_499)
        #expect(!request.isFinished)
        stage.scheduler.advance(milliseconds: 1)
        #expect(request.isFinished)
        #expect(request.error?.name == "session_task_failed.timed_out")
        #expect(request.error?.message.contains("not completed within 1500 ms: \(wait)") == true)
        #expect(stage.scheduler.count == 0 && stage.session.tasks.count == 0)
    }

    @Test("A retry whose delay is longer than the time that is left ends at once, and the attempt keeps its own error")
    func retryDelay() throws {
        let stage = try Stage()
        let request = Self.send(stage) {
            var policy = RetryPolicy()
            policy.retriesWithoutValidation = true
            policy.respectsRetryAfter = true
            $0.interceptor = PolicyRetrier(policy)
        }
        stage.transport.respond(503, [("Retry-After", "20")])
        #expect(request.isFinished && request.error?.name == "request_retry_failed")
        let message = "the next attempt would begin in 20000 ms, after the limit of 1500 ms; the first failure was: "
        #expect(request.error?.message.contains(message) == true)
        let parts: [(String, SessionError)] = (request.error?.details ?? []).compactMap { detail in
            if case .error(let error) = detail.value { (detail.name, error) } else { nil }
        }
        #expect(parts.map(\.0) == ["retry_error", "original_error"])
        #expect(
            parts.map(\.1.name) == [
                "session_task_failed.timed_out", "response_validation_failed.unacceptable_status_code",
            ])
        #expect(stage.scheduler.count == 0 && stage.session.tasks.count == 0)
        #expect(stage.transport.requests.count == 1 && request.attempts.count == 1)
        #expect(request.attempts[0].error?.name == "response_validation_failed.unacceptable_status_code")
    }

    @Test("An adapter that does not answer")
    func adapter() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.adaptations = [nil]
        let request = Self.send(stage) { $0.interceptor = interceptor }
        Self.expectTimeout(request, stage, of: "an adapter has not answered")
        interceptor.openAdaptations[0](.failure(.sessionInvalidated))
        #expect(request.error?.name == "session_task_failed.timed_out" && stage.transport.requests.isEmpty)
    }

    @Test("A retrier that does not answer")
    func retrier() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [nil]
        let request = Self.send(stage) { $0.interceptor = interceptor }
        stage.transport.complete(TransportError(.networkConnectionLost, "lost"))
        Self.expectTimeout(request, stage, of: "a retrier has not answered")
    }

    @Test("A validator that does not answer: the end of the task is announced")
    func validator() throws {
        let stage = try Stage()
        let validator = ScriptedValidator("slow")
        validator.isOpen = true
        let request = Self.send(stage) { $0.validators = [validator] }
        stage.transport.respond(200)
        Self.expectTimeout(request, stage, of: "a validator has not answered")
        #expect(stage.monitor.events.contains { $0.hasPrefix("didCompleteTask") })
    }

    @Test("A redirect decider that does not answer")
    func decider() throws {
        let stage = try Stage()
        let request = Self.send(stage) { $0.redirect = RedirectHandler(.ask(SilentDecider())) }
        stage.transport.respond(302, [("Location", "/next")])
        Self.expectTimeout(request, stage, of: "a decider has not answered")
    }

    @Test("A serializer that does not finish")
    func serializer() throws {
        let work = ManualWork()
        let stage = try Stage(work: work)
        let request = Self.send(stage) { $0.serializers = [DataResponseSerializer()] }
        stage.transport.respond(200, body: String(repeating: "a", count: 1_048_576))
        #expect(!work.jobs.isEmpty)
        Self.expectTimeout(request, stage, of: "a serializer has not finished")
        work.runNext()
        #expect(request.results.map { $0.error?.name } == ["session_task_failed.timed_out"])
    }

    @Test("A request that is suspended ends too")
    func suspended() throws {
        let stage = try Stage()
        let request = Self.send(stage)
        request.suspend()
        stage.transport.respond(200)
        stage.scheduler.advance(milliseconds: 1_499)
        #expect(!request.isFinished)
        stage.scheduler.advance(milliseconds: 1)
        #expect(request.error?.name == "session_task_failed.timed_out" && request.isFinished)
        #expect(stage.scheduler.count == 0 && stage.session.tasks.count == 0)
    }

    @Test("Each transfer counts from the start of the request, with the limit that was set")
    func transfers() throws {
        let stage = try Stage()
        let request = Self.send(stage) { $0.redirect = .follow }
        let start = stage.scheduler.now
        for _ in 0..<3 {
            stage.scheduler.advance(milliseconds: 100)
            stage.transport.respond(302, [("Location", "/next")])
        }
        for sent in stage.transport.requests {
            #expect(sent.resourceStart == start && sent.resourceTimeoutMilliseconds == 1_500)
        }
        stage.transport.respond(200)
        #expect(request.error == nil && request.isFinished)
    }

    @Test("The time may begin before the request is started")
    func earlierStart() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.adaptations = [nil]
        stage.scheduler.advance(milliseconds: 5_000)
        let start = stage.scheduler.now
        stage.scheduler.advance(milliseconds: 1_000)
        var parameters = RequestParameters(url: "http://a.test/")
        parameters.resourceTimeoutMilliseconds = 1_500
        parameters.interceptor = interceptor
        let request = stage.request(parameters)
        request.beginTime(at: start)
        request.resume()
        #expect(request.millisecondsLeft == 500)
        stage.scheduler.advance(milliseconds: 499)
        #expect(!request.isFinished)
        stage.scheduler.advance(milliseconds: 1)
        #expect(request.error?.name == "session_task_failed.timed_out" && request.isFinished)
    }

    @Test("Nothing is retried when the time is over")
    func noRetry() throws {
        let stage = try Stage()
        let interceptor = ScriptedInterceptor()
        interceptor.decisions = [.retry]
        let request = Self.send(stage) { $0.interceptor = interceptor }
        stage.scheduler.advance(milliseconds: 1_500)
        stage.transport.complete(TransportError(.timedOut, "not completed within 1500 ms", timeout: "resource"))
        #expect(interceptor.asked.isEmpty && request.isFinished && stage.transport.requests.count == 1)
    }

    @Test("A request that has waited is released when it is over")
    func released() throws {
        let stage = try Stage()
        weak var released: Request?
        do {
            var policy = RetryPolicy()
            policy.retriesWithoutValidation = true
            let request = Self.send(stage) { $0.interceptor = PolicyRetrier(policy) }
            stage.transport.respond(503)
            #expect(request.machine.deadline.timer != nil)
            stage.scheduler.advance(milliseconds: 500)
            stage.transport.respond(200)
            #expect(request.isFinished && stage.scheduler.count == 0)
            released = request
        }
        #expect(released == nil)
    }

    @Test("A request that was not started has no deadline")
    func notStarted() throws {
        let stage = try Stage()
        var parameters = RequestParameters(url: "http://a.test/")
        parameters.resourceTimeoutMilliseconds = 1_500
        let request = stage.request(parameters)
        request.setUp()
        stage.scheduler.advance(milliseconds: 10_000)
        #expect(!request.isFinished)
        request.resume()
        stage.transport.respond(200)
        #expect(request.isFinished && request.error == nil)
    }
}

private final class SilentDecider: RedirectDecider {
    func redirect(
        _ request: Request, after head: ResponseHead, to proposed: TransportRequest,
        completion: @escaping (Result<TransportRequest?, SessionError>) -> Void
    ) {}
}
