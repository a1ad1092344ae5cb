import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct SessionTests {
    // MARK: What is sent (RL-08, SE-25)

    @Test("SE-24, SE-25, EM-16, §2.12: parameters of an invalid request fail before anything is sent")
    func refusals() throws {
        let cases: [(String, RequestBody, String)] = [
            ("", .none, "invalid_url"), ("http://", .none, "invalid_url"), ("http://a b/", .none, "invalid_url"),
            ("no-scheme.test/", .none, "invalid_url"),
            ("ftp://a.test/", .none, "session_task_failed.unsupported_url"),
            ("http://a.test/", .bytes([1]), "url_request_validation_failed.body_data_in_get_request"),
            ("http://a.test/", .bytes([]), "url_request_validation_failed.body_data_in_get_request"),
        ]
        for (url, body, name) in cases {
            let stage = try Stage()
            let request = stage.send(url) { $0.body = body }
            #expect(request.error?.name == name, "\(url)")
            #expect(request.state == .finished)
            #expect(
                stage.monitor.events == ["requestDidResume", "didFailToCreateURLRequest(\(name))"] + ending(name))
            #expect(stage.transport.requests.isEmpty)
            #expect(stage.session.activeCount == 0)
            #expect(request.attempts.map { $0.error?.name } == [name])
        }
    }

    @Test("A body with another method is sent unchanged")
    func body() throws {
        let stage = try Stage()
        _ = stage.send {
            $0.method = .post; $0.body = .bytes([1, 2])
        }
        guard case .bytes([1, 2]) = try #require(stage.transport.requests.first).body else {
            Issue.record("another body")
            return
        }
        stage.transport.send(2)
        #expect(stage.monitor.events.last == "task.didSendBodyData(2)")
    }

    @Test("The session's fields come after the request's own, which win")
    func defaultFields() throws {
        var configuration = SessionConfiguration()
        configuration.fields = try [("Accept", "a"), ("X-Both", "session"), ("X-Two", "1"), ("X-Two", "2")].map {
            try HTTPField(name: $0.0, value: $0.1)
        }
        let stage = try Stage(configuration)
        let own = try [HTTPField(name: "x-both", value: "own"), HTTPField(name: "X-Own", value: "")]
        _ = stage.send { $0.fields = own }
        let sent = try #require(stage.transport.requests.first).fields
        #expect(
            sent.prefix(5).map { "\($0.name)=\($0.value)" } == [
                "x-both=own", "X-Own=", "Accept=a", "X-Two=1", "X-Two=2",
            ])
    }

    @Test(
        "User information becomes Basic, unless there is an Authorization",
        arguments: [
            ("http://user:p%40ss@a.test/", nil, "Basic dXNlcjpwQHNz"), ("http://user@a.test/", nil, "Basic dXNlcjo="),
            ("http://user:pass@a.test/", "Bearer x", "Bearer x"), ("http://a.test/", nil, nil),
        ] as [(String, String?, String?)])
    func basic(_ url: String, _ own: String?, _ expected: String?) throws {
        let stage = try Stage()
        let fields = try own.map { [try HTTPField(name: "authorization", value: $0)] } ?? []
        let request = stage.send(url) { $0.fields = fields }
        let sent = try #require(stage.transport.requests.first)
        #expect(sent.fields.first { $0.hasName("Authorization") }?.value == expected)
        #expect(sent.url.description == "http://a.test/")
        #expect(request.url == "http://a.test/")
    }

    @Test("SE-06: the session's values, unless the request has its own")
    func values() throws {
        var configuration = SessionConfiguration()
        configuration.idleTimeoutMilliseconds = 1
        configuration.resourceTimeoutMilliseconds = 2
        configuration.connectTimeoutMilliseconds = 3
        configuration.trust = .none
        configuration.httpVersion = .http1
        configuration.decodesContent = false
        configuration.maximumDecodingRatio = 4
        let stage = try Stage(configuration)
        _ = stage.send()
        _ = stage.send {
            $0.idleTimeoutMilliseconds = 10
            $0.resourceTimeoutMilliseconds = 20
            $0.connectTimeoutMilliseconds = 30
            $0.trust = .system
            $0.httpVersion = .http2
            $0.decodesContent = true
            $0.maximumDecodingRatio = 40
        }
        let told = stage.transport.requests.map { sent in
            "\(sent.idleTimeoutMilliseconds) \(sent.resourceTimeoutMilliseconds) \(sent.connectTimeoutMilliseconds) "
                + "\(sent.partition.trust) \(sent.httpVersion) \(sent.decodesContent) \(sent.maximumDecodingRatio)"
        }
        #expect(told == ["1 2 3 none http1 false 4", "10 20 30 system http2 true 40"])
    }

    // MARK: All requests

    @Test("Of the active requests the latest is the first, so that what waits is cancelled before what is sent")
    func order() throws {
        let stage = try Stage()
        let requests = (0..<100).map { _ in stage.request(RequestParameters(url: "http://a.test/")) }
        #expect(stage.session.activeRequests.map(\.id) == requests.reversed().map(\.id))
    }

    @Test("SE-16, SE-17: only unfinished requests are active, and can be cancelled at once")
    func cancelAll() throws {
        let stage = try Stage()
        let over = stage.send()
        stage.transport.respond(200)
        let waiting = stage.request(RequestParameters(url: "http://a.test/"))
        let running = stage.send()
        #expect(stage.session.activeCount == 2)
        #expect(stage.session.cancelAllRequests() == 2)
        stage.transport.completeCancelled()
        #expect([over, waiting, running].map(\.state) == [.finished, .cancelled, .cancelled])
        #expect(stage.session.activeCount == 0)
        #expect(stage.session.requestCount == 3)
        #expect(!stage.session.isInvalid)
    }

    // MARK: The end of a session

    @Test("SE-19, EM-01: invalidating lets requests finish, and is reported after the last of them")
    func invalidateFinishing() throws {
        let stage = try Stage()
        let request = stage.send()
        stage.session.invalidate(cancelling: false)
        #expect(!stage.monitor.take().contains("session.didBecomeInvalid"))
        let late = stage.send()
        #expect(late.error?.name == "session_invalidated")
        #expect(late.state == .finished)
        stage.transport.respond(200)
        #expect(request.error == nil)
        #expect(stage.monitor.take().suffix(3) == (ending + ["session.didBecomeInvalid"])[...])
        stage.session.invalidate(cancelling: true)
        #expect(stage.send().error?.name == "session_invalidated")
        #expect(!stage.monitor.events.contains("session.didBecomeInvalid"))
    }

    @Test("A retired session lets all requests finish, also those that have not begun, and is then invalid")
    func retire() throws {
        let stage = try Stage()
        let waiting = stage.request(RequestParameters(url: "http://a.test/"))
        let running = stage.send()
        stage.session.retire()
        stage.transport.respond(200)
        #expect(running.error == nil && running.isFinished)
        #expect(!stage.session.isInvalid && !stage.monitor.take().contains("session.didBecomeInvalid"))
        waiting.resume()
        stage.transport.respond(200)
        #expect(waiting.error == nil && waiting.isFinished)
        #expect(stage.session.isInvalid)
        #expect(stage.monitor.take().last == "session.didBecomeInvalid")
    }

    @Test("The values of hidden fields are not shown, whatever the case of their names is")
    func hiddenFields() throws {
        var configuration = SessionConfiguration()
        let fields = [try HTTPField(name: "X-Plain", value: "s3cret"), try HTTPField(name: "X-Open", value: "open")]
        #expect(configuration.shown(fields) == fields)
        configuration.hiddenFields = ["x-plain"]
        #expect(configuration.shown(fields).map(\.value) == ["(hidden)", "open"])
    }

    @Test("§2.14: requests that lose their session fail, and are not reported as cancelled")
    func invalidateCancelling() throws {
        let stage = try Stage()
        let waiting = stage.request(RequestParameters(url: "http://a.test/"))
        let running = stage.send()
        _ = stage.monitor.take()
        stage.session.invalidate(cancelling: true)
        #expect(waiting.isFinished)
        #expect(!running.isFinished)
        stage.transport.completeCancelled()
        #expect([waiting, running].map { $0.error?.name } == ["session_invalidated", "session_invalidated"])
        #expect([waiting, running].map(\.state) == [.finished, .finished])
        #expect(
            stage.monitor.events == ending("session_invalidated") + metrics + ["task.didComplete(cancelled)"]
                + ending("session_invalidated") + ["session.didBecomeInvalid"])
    }

    @Test("An invalidation that lets requests finish can later be changed to cancel them")
    func invalidateTwice() throws {
        let stage = try Stage()
        let request = stage.send()
        stage.session.invalidate(cancelling: false)
        stage.session.invalidate(cancelling: true)
        stage.transport.completeCancelled()
        #expect(request.error?.name == "session_invalidated")
        #expect(stage.monitor.events.filter { $0 == "session.didBecomeInvalid" }.count == 1)
    }
}
