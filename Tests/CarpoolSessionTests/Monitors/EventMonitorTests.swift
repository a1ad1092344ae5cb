import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// Several monitors of one session, and those of one request.
struct EventMonitorTests {
    @Test("A session's monitor gets each event before the request's, which gets none of tasks")
    func order() throws {
        let stage = try Stage()
        let own = RecordingMonitor()
        var all: [String] = []
        stage.monitor.onEvent = { event, _ in all.append("session: \(event)") }
        own.onEvent = { event, _ in all.append("request: \(event)") }
        _ = stage.send { $0.eventMonitors = [own] }
        stage.transport.respond(200, body: "hello")
        let steps = [
            "requestDidResume", "didCreateInitialURLRequest", "didCreateURLRequest", "didCreateTask", "didResumeTask",
            "didGatherMetrics", "didCompleteTask(null)", "requestDidFinish", "didParseResponse(none, success)",
        ]
        #expect(own.events == steps)
        for step in steps {
            let place = try #require(all.firstIndex(of: "session: \(step)"))
            #expect(all[place + 1] == "request: \(step)")
        }
        #expect(stage.monitor.events.count == steps.count + 4)
    }

    @Test("A composite passes each event to all of its monitors, in order; a closure receives every event")
    func composite() throws {
        let second = RecordingMonitor()
        var heard: [String] = []
        let closures = ClosureEventMonitor { event, _ in
            switch event {
            case .didResume: heard.append("resume before \(second.events.count)")
            case .taskDidReceiveData(let count): heard.append("data \(count)")
            case .didParse(let response): heard.append("parse \(response.serializer)")
            default: break
            }
        }
        let stage = try Stage()
        _ = stage.send { $0.eventMonitors = [CompositeEventMonitor([closures, second])] }
        stage.transport.respond(200, body: "hello")
        #expect(heard == ["resume before 0", "parse none"])
        #expect(second.events.count == 9)
    }

    @Test(
        "The challenge of a response",
        arguments: [
            ("Basic realm=\"here\"", "HTTPBasic", "here"), ("Digest nonce=\"a=b\", Realm=\"x y\"", "HTTPDigest", "x y"),
            ("basic", "HTTPBasic", nil), ("Negotiate", "HTTPNegotiate", nil), ("Bearer realm=\"api\"", nil, nil),
        ] as [(String, String?, String?)])
    func challenges(_ field: String, _ method: String?, _ realm: String?) throws {
        let head = ResponseHead.make(401, [("WWW-Authenticate", field)])
        var request = TransportRequest(method: .get, url: try HTTPURL("http://a.test:81/"), fields: [])
        let challenge = AuthenticationChallenge(head, to: request)
        #expect(challenge?.method.rawValue == method)
        #expect(challenge?.realm == realm)
        #expect(challenge?.previousFailureCount ?? 0 == 0)
        request.fields = [try HTTPField(name: "Authorization", value: "Basic eA==")]
        #expect(AuthenticationChallenge(head, to: request)?.previousFailureCount ?? 1 == 1)
        #expect(AuthenticationChallenge(ResponseHead.make(403, [("WWW-Authenticate", field)]), to: request) == nil)
    }
}
