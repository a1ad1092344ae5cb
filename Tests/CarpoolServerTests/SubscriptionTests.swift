@testable import CarpoolServer
import Testing

struct EventFilterTests {
    @Test(
        "A star stands for any characters, and nothing else is special",
        arguments: [
            ("*", true), ("request.did_finish", true), ("request.*", true), ("*.did_finish", true), ("*did*", true),
            ("r*t.did_f*h", true), ("**", true), ("request.did_finish*", true), ("*h", true),
            ("request.did_finis", false),
            ("request", false), ("equest.*", false), ("*.did_finis", false), ("request.did_finish?", false),
            ("request.did_finis?", false), ("REQUEST.*", false), ("", false), ("*x*", false), ("re*re*", false),
            ("*i*i*i*i*", false), ("*i*i*i*", true),
        ])
    func globs(_ pattern: String, _ matches: Bool) {
        let filter = EventFilter(patterns: [pattern], scope: .all)
        #expect(filter.matches(type: "request.did_finish") == matches)
    }

    @Test func oneOfSeveralPatternsIsEnough() {
        #expect(EventFilter(patterns: ["pool.*", "request.*"], scope: .all).matches(type: "request.did_finish"))
        #expect(!EventFilter(patterns: [], scope: .all).matches(type: "request.did_finish"))
    }

    private static let me = ClientIdentity(uid: 1, name: "me")

    @Test(
        "Scopes; what belongs to no request is for everybody",
        arguments: [
            (.all, "a", ClientIdentity(uid: 2, name: "x"), true), (.mine(me), "a", me, true),
            (.mine(me), "a", ClientIdentity(uid: 1, name: "other"), false),
            (.mine(me), "a", ClientIdentity(uid: 2, name: "me"), false), (.mine(me), nil, nil, true),
            (.session("a"), "a", ClientIdentity(uid: 2, name: "x"), true), (.session("a"), "b", me, false),
            (.session("a"), nil, nil, true),
        ] as [(EventFilter.Scope, String?, ClientIdentity?, Bool)])
    func scopes(_ scope: EventFilter.Scope, _ session: String?, _ client: ClientIdentity?, _ matches: Bool) {
        #expect(EventFilter(patterns: ["*"], scope: scope).matches(session: session, client: client) == matches)
    }
}
