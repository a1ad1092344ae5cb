import CarpoolRPC
@testable import CarpoolServer
import Testing

struct EventFilterTests {
    @Test("One of several patterns is enough")
    func several() {
        let row = EventType.requestDidFinish
        #expect(EventTypeSet(patterns: ["pool.*", "request.*"]).contains(row))
        #expect(!EventTypeSet(patterns: []).contains(row))
    }

    @Test("Notifications match only patterns of their own names")
    func notifications() {
        let row = EventType.notificationDidFinish
        for pattern in ["*", "*.did_finish", "no*"] { #expect(!EventTypeSet(pattern: pattern).contains(row)) }
        for pattern in ["notification.*", "notification.did_finish"] {
            #expect(EventTypeSet(pattern: pattern).contains(row))
        }
    }

    @Test("Every type has a bit, and a pattern of its name finds it alone")
    func rows() {
        #expect(EventType.allCases.count <= EventTypeSet.capacity)
        for type in EventType.allCases {
            let found = EventTypeSet(pattern: type.name.description)
            #expect(EventType.allCases.filter(found.contains) == [type])
        }
    }

    private static let me = ClientIdentity(uid: 1, name: "me")

    @Test("A2: scopes; events of no user are for all clients, events of another user are for administrators")
    func scopes() {
        let (me, other) = (EventFilterTests.me, ClientIdentity(uid: 2, name: "x"))
        let cases: [(EventFilter.Scope, String?, ClientIdentity?, Bool)] = [
            (.everyone, "a", other, true), (.user(1), "a", me, true), (.user(1), "a", other, false),
            (.user(1), nil, nil, true), (.mine(me), "a", me, true),
            (.mine(me), "a", ClientIdentity(uid: 1, name: "other"), false),
            (.mine(me), "a", ClientIdentity(uid: 2, name: "me"), false), (.mine(me), nil, nil, true),
            (.session("a", of: 2), "a", other, true), (.session("a", of: 1), "a", other, false),
            (.session("a", of: 1), "b", me, false), (.session("a", of: 1), nil, nil, true),
        ]
        for (scope, session, client, follows) in cases {
            let subject = session.map { EventSubject(session: $0, uid: client?.uid ?? 0, request: "r", client: client) }
            #expect(EventFilter(patterns: ["*"], scope: scope).follows(subject) == follows)
        }
        for (subject, follows) in [
            (EventSubject(session: nil, uid: 1), true), (EventSubject(session: "a", uid: 1), true),
            (EventSubject(session: nil, uid: 2), false), (EventSubject(session: "a", uid: 2), false),
        ] {
            for scope: EventFilter.Scope in [.mine(me), .user(1), .session("a", of: 1)] {
                #expect(EventFilter(patterns: ["*"], scope: scope).follows(subject) == follows)
            }
        }
        let subject = EventSubject(session: "a", uid: 1, request: "r", client: me)
        let filter = EventFilter(patterns: ["*"], scope: .request(subject))
        #expect(filter.follows(subject))
        #expect(!filter.follows(EventSubject(session: "a", uid: 1, request: "r", client: me)))
        #expect(!filter.follows(nil))
    }
}
