import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct RequestTests {
    @Test("§2.1: the events of a GET that succeeds, in order")
    func success() throws {
        let stage = try Stage()
        let request = stage.send()
        stage.transport.receive(200, [("Content-Type", "text/plain")])
        stage.transport.receive(Array("he".utf8))
        stage.transport.receive(Array("llo".utf8))
        stage.transport.complete()
        #expect(
            stage.monitor.events == beginning + [
                "data.didReceiveResponse(200)", "data.didReceiveData(2)", "data.didReceiveData(3)",
            ] + metrics + ["task.didComplete(null)", "didCompleteTask(null)"] + ending)
        #expect(request.state == .finished)
        #expect(request.error == nil)
        #expect(request.text == "hello")
        #expect(request.response?.status == 200)
        #expect(request.attempts.map { $0.hops.map(\.metrics?.connection) } == [[1]])
        #expect(stage.session.tasks.count == 0, "TM-06")
    }

    @Test("§2.13: a failure of the network, before and after the head", arguments: [false, true])
    func transportFailure(_ hasHead: Bool) throws {
        let stage = try Stage()
        let request = stage.send()
        if hasHead { stage.transport.receive(200) }
        stage.transport.complete(TransportError(.networkConnectionLost, "gone", isRetryable: true))
        #expect(
            stage.monitor.events == beginning + (hasHead ? ["data.didReceiveResponse(200)"] : []) + metrics + [
                "task.didComplete(network_connection_lost)", "didCompleteTask(network_connection_lost)",
            ] + ending("session_task_failed.network_connection_lost"))
        #expect(request.error?.name == "session_task_failed.network_connection_lost")
        #expect(request.error?.isRetryable == true)
        #expect((request.response != nil) == hasHead)
        #expect(request.attempts.map { $0.error?.name } == ["session_task_failed.network_connection_lost"])
    }

    @Test("RL-02, SE-20: a hundred calls of resume are one")
    func resumeTwice() throws {
        let stage = try Stage()
        let request = stage.send()
        for _ in 0..<100 { request.resume() }
        #expect(stage.monitor.events == beginning)
        #expect(stage.transport.requests.count == 1)
    }

    @Test(
        "§2.4 (a), RL-04: cancelled in flight; the error is the cancellation, not the transport's",
        arguments: [0, 1, 2])
    func cancelInFlight(_ step: Int) throws {
        let stage = try Stage()
        let request = stage.send()
        if step > 0 { stage.transport.receive(200) }
        if step > 1 { stage.transport.receive([1]) }
        _ = stage.monitor.take()
        #expect(request.cancel())
        #expect(request.state == .cancelled)
        #expect(!request.isFinished)
        stage.transport.completeCancelled()
        #expect(request.isFinished)
        #expect(request.error?.name == "explicitly_cancelled")
        #expect(
            stage.monitor.events == ["requestDidCancel", "didCancelTask"] + metrics + [
                "task.didComplete(cancelled)", "didCompleteTask(cancelled)",
            ] + ending("explicitly_cancelled"))
        #expect(request.state == .cancelled)
    }

    @Test("§2.4 (b), RL-05, RL-06: cancelled before it was resumed, nothing is ever sent")
    func cancelBefore() throws {
        let stage = try Stage()
        let request = stage.request(RequestParameters(url: "http://a.test/"))
        #expect(request.cancel())
        request.resume()
        #expect(stage.monitor.events == ["requestDidCancel"] + ending("explicitly_cancelled"))
        #expect(stage.transport.requests.isEmpty)
        #expect(request.isFinished)
        #expect(request.attempts.isEmpty)
    }

    @Test(
        "§2.4 (c), RL-30: cancelled by a monitor at each step",
        arguments: beginning + [
            "data.didReceiveResponse(200)", "data.didReceiveData(1)", "task.didCollectMetrics", "didGatherMetrics",
        ])
    func cancelByMonitor(_ event: String) throws {
        let stage = try Stage()
        stage.monitor.onEvent = { told, request in if told == event { request?.cancel() } }
        let request = stage.send()
        let isSent = !beginning.prefix(4).contains(event)
        #expect(stage.transport.requests.count == (isSent ? 1 : 0))
        stage.transport.receive(200)
        stage.transport.receive([1])
        stage.transport.complete(
            stage.transport.cancelled.isEmpty ? nil : TransportError(.cancelled, "the transfer was cancelled"))
        #expect(request.isFinished)
        #expect(request.error?.name == "explicitly_cancelled")
        #expect(stage.monitor.events.suffix(2) == ending("explicitly_cancelled")[...])
        #expect(stage.monitor.events.filter { $0 == "requestDidFinish" }.count == 1)
        #expect(stage.monitor.events.contains("didCancelTask") == (isSent || event == "didCreateTask"))
        #expect(stage.session.tasks.count == 0)
    }

    @Test("§2.4 (e): cancelling a finished request has no effect")
    func cancelAfter() throws {
        let stage = try Stage()
        let request = stage.send()
        stage.transport.respond(204)
        _ = stage.monitor.take()
        #expect(!request.cancel())
        #expect(request.state == .finished)
        #expect(request.error == nil)
        #expect(stage.monitor.events.isEmpty)
    }

    @Test("§2.4 (g): a hundred cancellations are one")
    func cancelOften() throws {
        let stage = try Stage()
        let request = stage.send()
        let changes = (0..<100).map { _ in request.cancel() }
        #expect(changes == [true] + Array(repeating: false, count: 99))
        #expect(stage.monitor.events == beginning + ["requestDidCancel", "didCancelTask"])
        #expect(stage.transport.cancelled == [1])
    }

    @Test("RL-22: the first reason wins")
    func firstReason() throws {
        let stage = try Stage()
        let request = stage.send()
        request.cancel()
        stage.transport.complete(TransportError(.timedOut, "late"))
        #expect(request.error?.name == "explicitly_cancelled")
        #expect(stage.monitor.events.contains("didCompleteTask(timed_out)"), "EM-23 reports the transport's error")
    }

    // MARK: Waiting for the end (RL-15)

    @Test("RL-15: completions are called in order, after the last event, once; late ones at once")
    func completions() throws {
        let stage = try Stage()
        let request = stage.send()
        var called: [String] = []
        request.whenFinished { _ in called.append("first after \(stage.monitor.events.last ?? "")") }
        request.whenFinished { called.append("second, \($0.state)") }
        stage.transport.respond(200)
        stage.transport.complete()
        request.whenFinished { _ in called.append("late") }
        #expect(called == ["first after didParseResponse(none, success)", "second, finished", "late"])
    }

    @Test("A completion that was removed is not called, and the others are")
    func forget() throws {
        let stage = try Stage()
        let request = stage.send()
        var called: [Int] = []
        let tokens = (0..<3).map { i in request.whenFinished { _ in called.append(i) } }
        #expect(Set(tokens).count == 3)
        request.remove(completion: tokens[1])
        request.remove(completion: tokens[1])
        stage.transport.respond(200)
        request.remove(completion: tokens[0])
        #expect(called == [0, 2])
    }

    @Test("A completion may start and cancel other requests")
    func reentrance() throws {
        let stage = try Stage()
        let other = stage.send()
        let request = stage.send()
        var next: Request?
        request.whenFinished { _ in
            other.cancel()
            next = stage.send()
        }
        stage.transport.respond(200)
        #expect(other.state == .cancelled)
        #expect(next?.state == .resumed)
        #expect(stage.session.activeCount == 2)
    }
}
