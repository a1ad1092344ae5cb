import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct ChallengeDialogueTests {
    private static func origin(_ number: Int = 1) throws -> Origin { try HTTPURL("http://h\(number).test/").origin }

    @Test("A realm of a server gets two answers and one for a stale nonce, and then the response is final")
    func realm() throws {
        var dialogue = ChallengeDialogue()
        let origin = try Self.origin()
        func answers(stale: Bool = false, realm: String = "r") throws -> Bool {
            try dialogue.answers(
                .origin, at: origin, realm: realm, isStale: stale, isChosen: false, answered: 0)
        }
        #expect(try answers())
        #expect(try answers(stale: true))
        #expect(!dialogue.answersStale(of: .origin, at: origin, realm: "r"))
        #expect(try !answers(stale: true))
        #expect(try answers())
        #expect(try !answers())
        #expect(try answers(realm: "another"))
        dialogue.redirected()
        #expect(try answers())
    }

    @Test("The proxy has answers of its own")
    func proxy() throws {
        var dialogue = ChallengeDialogue()
        for server in [ChallengingServer.origin, .proxy] {
            for _ in 0..<2 {
                let isAnswered = try dialogue.answers(
                    server, at: try Self.origin(), realm: "r", isStale: false, isChosen: false, answered: 0)
                #expect(isAnswered)
            }
        }
    }

    @Test("After sixteen answers to all servers the next challenge fails, also with chosen credentials")
    func maximum() throws {
        var dialogue = ChallengeDialogue()
        for number in 0..<16 {
            let isAnswered = try dialogue.answers(
                .origin, at: try Self.origin(number), realm: "r", isStale: false, isChosen: false, answered: number)
            #expect(isAnswered)
        }
        let error = #expect(throws: SessionError.self) {
            try dialogue.answers(
                .origin, at: try Self.origin(99), realm: "r", isStale: false, isChosen: true, answered: 16)
        }
        #expect(error?.name == "session_task_failed.too_many_challenges")
    }

    @Test("Credentials that a decider chooses are not counted by realm: it is asked only five times")
    func chosen() throws {
        var dialogue = ChallengeDialogue()
        for _ in 0..<5 {
            let isAnswered = try dialogue.answers(
                .origin, at: try Self.origin(), realm: "r", isStale: false, isChosen: true, answered: 0)
            #expect(isAnswered)
        }
    }
}
