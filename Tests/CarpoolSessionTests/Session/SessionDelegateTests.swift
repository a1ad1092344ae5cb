import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct SessionDelegateTests {
    // MARK: Redirects

    @Test("§2.9, RH-01, RH-07: a redirect is one hop more, not another attempt")
    func redirect() throws {
        let stage = try Stage()
        let request = stage.send("http://a.test/from")
        stage.transport.receive(302, [("Location", "/to")])
        stage.transport.receive(Array("moved".utf8))
        stage.transport.complete()
        stage.transport.respond(200, body: "here")
        #expect(
            stage.monitor.events == beginning + [
                "task.willRedirect(302, http://a.test/to)", "data.didReceiveResponse(200)", "data.didReceiveData(4)",
            ] + metrics + ["task.didComplete(null)", "didCompleteTask(null)"] + ending)
        #expect(request.text == "here")
        #expect(request.body.count == 4)
        #expect(request.url == "http://a.test/to")
        #expect(request.parameters.url == "http://a.test/from")
        #expect(request.attempts.count == 1)
        let hops = request.attempts[0].hops
        #expect(hops.map(\.response?.status) == [302, 200])
        #expect(hops.map(\.metrics?.connection) == [1, 2])
        #expect(stage.session.tasks.count == 0)
    }

    @Test("RH-02, EM-05: not followed, the redirect is reported and is the response")
    func doNotFollow() throws {
        let stage = try Stage()
        let request = stage.send { $0.redirect = .doNotFollow }
        stage.transport.respond(302, [("Location", "/to")], body: "moved")
        #expect(
            stage.monitor.events == beginning + [
                "task.willRedirect(302, http://a.test/to)", "data.didReceiveResponse(302)", "data.didReceiveData(5)",
            ] + metrics + ["task.didComplete(null)", "didCompleteTask(null)"] + ending)
        #expect(request.error == nil)
        #expect(request.text == "moved")
        #expect(stage.transport.requests.count == 1)
    }

    @Test("RH-04: the request's handler replaces the session's entirely", arguments: [true, false])
    func precedence(_ requestFollows: Bool) throws {
        var configuration = SessionConfiguration()
        configuration.redirect = requestFollows ? .doNotFollow : .follow
        let stage = try Stage(configuration)
        let request = stage.send { $0.redirect = requestFollows ? .follow : .doNotFollow }
        stage.transport.respond(302, [("Location", "/to")])
        #expect(request.isFinished == !requestFollows)
        #expect(stage.transport.requests.count == (requestFollows ? 2 : 1))
    }

    @Test("RH-05: one hop too many fails with the last response's head")
    func tooMany() throws {
        let stage = try Stage()
        let request = stage.send {
            $0.redirect = .follow
            $0.redirect?.maximumHops = 2
        }
        for _ in 0..<3 { stage.transport.respond(302, [("Location", "/again")], body: "moved") }
        #expect(request.error?.name == "session_task_failed.http_too_many_redirects")
        #expect(request.response?.status == 302)
        #expect(request.attempts[0].hops.count == 3)
        #expect(request.body.count == 0)
        #expect(stage.monitor.events.filter { $0.hasPrefix("task.willRedirect") }.count == 2)
        #expect(stage.monitor.events.contains("didCompleteTask(null)"))
    }

    @Test("A redirect's body is dropped; one that does not end is cut off, and the redirect followed")
    func endlessBody() throws {
        let stage = try Stage()
        let request = stage.send()
        stage.transport.receive(302, [("Location", "/to")])
        let piece = [UInt8](repeating: 0, count: 131_072)
        #expect(stage.transport.receive(piece) == .accept)
        #expect(stage.transport.receive(piece) == .accept)
        #expect(stage.transport.receive([0]) == .stop)
        stage.transport.completeCancelled()
        #expect(stage.transport.requests.count == 2)
        // A body that was cut off in the first hop does not excuse one in the second.
        stage.transport.complete(TransportError(.cannotConnectToHost, "refused"))
        #expect(request.error?.name == "session_task_failed.cannot_connect_to_host")
        #expect(request.response == nil)
    }

    @Test("A redirect whose body breaks off is followed, as curl does", arguments: ["/to", nil])
    func brokenBody(location: String?) throws {
        let stage = try Stage()
        let request = stage.send()
        stage.transport.receive(302, location.map { [("Location", $0)] } ?? [])
        stage.transport.complete(TransportError(.networkConnectionLost, "gone"))
        #expect(request.error?.name == (location == nil ? "session_task_failed.network_connection_lost" : nil))
        #expect(stage.transport.requests.count == (location == nil ? 1 : 2))
    }

    @Test("Cancelled between hops, the next one is never sent")
    func cancelBetweenHops() throws {
        let stage = try Stage()
        stage.monitor.onEvent = { told, request in if told.hasPrefix("task.willRedirect") { request?.cancel() } }
        let request = stage.send()
        stage.transport.respond(302, [("Location", "/to")])
        #expect(request.isFinished)
        #expect(request.error?.name == "explicitly_cancelled")
        #expect(stage.transport.requests.count == 1)
    }

    // MARK: Bodies

    @Test("A body over the limit goes to the spool, and is complete when the request is over")
    func spool() throws {
        let stage = try Stage()
        let request = stage.send { $0.memoryLimitBytes = 3 }
        stage.transport.receive(200)
        stage.transport.receive(Array("abc".utf8))
        #expect(stage.spool.files.isEmpty)
        stage.transport.receive(Array("d".utf8))
        #expect(stage.spool.files.map(\.path) == [nil])
        stage.transport.complete()
        #expect(stage.spool.files.map(\.path) == ["/spool/r_1"])
        #expect(stage.spool.files.map(\.bytes) == [Array("abcd".utf8)])
        #expect(request.text == nil)
        #expect(request.body.count == 4)
    }

    @Test(
        "A spool that fails ends the request, whose body is deleted",
        arguments: [(ScriptedSpool.Step.make, "cannot_write_to_file"), (.write, "disk_full"), (.complete, "disk_full")])
    func spoolFailure(_ step: ScriptedSpool.Step, _ name: String) throws {
        let stage = try Stage()
        stage.spool.failure = step
        let request = stage.send { $0.memoryLimitBytes = 0 }
        stage.transport.receive(200)
        let disposition = stage.transport.receive([1])
        #expect(disposition == (step == .complete ? .accept : .stop))
        if disposition == .stop { stage.transport.completeCancelled() } else { stage.transport.complete() }
        #expect(request.error?.name == name)
        #expect(request.attempts.map { $0.error?.name } == [name])
        #expect(request.text == "")
        #expect(request.body.count == 1)
        #expect(stage.spool.files.allSatisfy { $0.isDiscarded })
    }

    @Test("DR-01: the received bytes of a body that breaks off are kept")
    func partialBody() throws {
        let stage = try Stage()
        let request = stage.send()
        stage.transport.receive(200)
        stage.transport.receive(Array("half".utf8))
        stage.transport.complete(TransportError(.networkConnectionLost, "gone"))
        #expect(request.text == "half")
        #expect(request.error != nil)
    }

    @Test("An unknown transfer is stopped, and affects no request")
    func strangers() throws {
        let stage = try Stage()
        let request = stage.send()
        let transfer = try #require(stage.transport.transfers.first)
        let delegate = stage.session.delegate
        stage.transport.respond(200)
        delegate.transfer(transfer, didReceive: .make(500))
        #expect([UInt8(1)].withUnsafeBytes { delegate.transfer(transfer, didReceive: $0) } == .stop)
        delegate.transfer(transfer, didSendBodyBytes: 1)
        delegate.transferDidComplete(transfer, TransferCompletion(error: nil, metrics: TransferMetrics()))
        #expect(request.response?.status == 200)
        #expect(request.body.count == 0)
    }
}
