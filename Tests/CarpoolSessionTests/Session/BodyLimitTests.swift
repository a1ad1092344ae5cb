import CarpoolHTTP
@testable import CarpoolSession
import Testing

@Suite("Bodies that are larger than the request's maximum")
struct BodyLimitTests {
    private static let name = "response_too_large"

    @Test("An announced length fails the request before the body, without waiting for it")
    func announced() throws {
        let stage = try Stage()
        let request = stage.send { $0.maximumBodyBytes = 4 }
        stage.transport.receive(200, [("Content-Length", "5")])
        #expect(request.error?.name == BodyLimitTests.name)
        #expect(stage.transport.cancelled.count == 1)
        stage.transport.completeCancelled()
        #expect(request.isFinished && request.body.count == 0 && request.state != .cancelled)
    }

    @Test(
        "A Content-Length that does not count the delivered bytes is ignored",
        arguments: [
            (200, [("Content-Length", "5"), ("Content-Encoding", "gzip")]), (204, [("Content-Length", "5")]),
            (304, [("Content-Length", "5")]), (200, [("Content-Length", "4")]), (200, [("Content-Length", "many")]),
        ])
    func notAnnounced(_ status: Int, _ fields: [(String, String)]) throws {
        let stage = try Stage()
        let request = stage.send { $0.maximumBodyBytes = 4 }
        stage.transport.respond(status, fields, body: "1234")
        #expect(request.error == nil && request.text == "1234")
    }

    @Test("The answer to a HEAD has no body, with any Content-Length")
    func head() throws {
        let stage = try Stage()
        let request = stage.send {
            $0.method = .head
            $0.maximumBodyBytes = 0
        }
        stage.transport.respond(200, [("Content-Length", "5")])
        #expect(request.error == nil && request.isFinished)
    }

    @Test("Bytes are counted as they are delivered", arguments: [(4, true), (5, false), (9, false)])
    func counted(_ limit: Int, _ fails: Bool) throws {
        let stage = try Stage()
        let request = stage.send { $0.maximumBodyBytes = limit }
        stage.transport.receive(200)
        stage.transport.receive(Array("123".utf8))
        #expect(request.error == nil)
        stage.transport.receive(Array("45".utf8))
        #expect((request.error?.name == BodyLimitTests.name) == fails)
        #expect(request.body.count == (fails ? 3 : 5))
    }

    @Test("The body of a redirect that is followed does not count")
    func redirect() throws {
        let stage = try Stage()
        let request = stage.send { $0.maximumBodyBytes = 4 }
        stage.transport.respond(302, [("Location", "/to"), ("Content-Length", "5")], body: "moved")
        stage.transport.respond(200, [("Content-Length", "4")], body: "here")
        #expect(request.error == nil && request.text == "here")
    }

    @Test("The session's limit is for requests without one of their own", arguments: [(nil as Int?, true), (5, false)])
    func session(_ own: Int?, _ fails: Bool) throws {
        var configuration = SessionConfiguration()
        configuration.maximumBodyBytes = 4
        let stage = try Stage(configuration)
        let request = stage.send { $0.maximumBodyBytes = own }
        stage.transport.receive(200, [("Content-Length", "5")])
        #expect((request.error != nil) == fails)
    }
}
