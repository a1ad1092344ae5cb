@testable import CarpoolServer
import Testing

final class CallbackTableTests {
    private var table = CallbackTable()
    private var live: Set<Int> = [1, 2, 3, 4]

    private func ask(
        origin: Int? = nil, uid: UInt32 = 1_000, _ name: String = "sign", perConnection: Int = 256,
        perClient: Int = 10_000, perUser: Int = 10_000, inAll: Int = 10_000, client: String = "tester"
    ) -> (question: Int, action: CallbackTable.Action) {
        let live = live
        return table.ask(
            CallbackTable.Audience(origin: origin, client: ClientIdentity(uid: uid, name: client), name: name),
            perConnection: perConnection,
            Quota.Bounds(client: ("client", perClient), user: ("user", perUser), all: ("all", inAll)),
            isReachable: live.contains)
    }

    private func lose(_ connection: Int) -> [CallbackTable.Action] {
        live.remove(connection)
        let live = live
        return table.connectionCannotAnswer(connection, perConnection: 256, isReachable: live.contains)
    }

    private func answer(_ question: Int, from connection: Int) -> Bool { table.answer(question, from: connection) }

    @Test("The connection that made the call gets the callback, whether or not it has declared the name")
    func origin() {
        table.declare(["sign"], by: 2, uid: 1_000)
        let (question, action) = ask(origin: 1)
        #expect(action == .send(question, to: 1))
        #expect(table.count(of: 1) == 1)
    }

    @Test("Without it, the newest connection that has declared the name gets it, however often others repeat theirs")
    func newest() {
        for connection in [3, 1, 2, 1] { table.declare(["sign", "sign"], by: connection, uid: 1_000) }
        table.declare(["other"], by: 4, uid: 1_000)
        for expected in [3, 2, 1] {
            let (question, action) = ask()
            #expect(action == .send(question, to: expected))
            table.close(question)
            live.remove(expected)
        }
        let (question, action) = ask()
        #expect(action == .fail(question, .noResponder))
        #expect(table.count == 0)
    }

    @Test("Another user's connections never get the callback")
    func otherUsers() {
        table.declare(["sign"], by: 1, uid: 0)
        table.declare(["sign"], by: 2, uid: 7)
        #expect(ask().action == .fail(1, .noResponder))
        #expect(ask(uid: 7).action == .send(2, to: 2))
    }

    @Test("A declaration replaces the previous one, and ends with its connection")
    func declarations() {
        table.declare(["b", "a"], by: 1, uid: 1_000)
        #expect(table.names(of: 1) == ["a", "b"])
        table.declare(["c"], by: 1, uid: 1_000)
        #expect(table.names(of: 1) == ["c"])
        #expect(ask("a").action == .fail(1, .noResponder))
        #expect(lose(1) == [])
        #expect(table.names(of: 1) == [])
    }

    @Test("Only the connection that got the callback answers, once")
    func answers() {
        let (question, _) = ask(origin: 1)
        #expect(!answer(question, from: 2))
        #expect(!answer(question + 1, from: 1))
        #expect(answer(question, from: 1))
        #expect(!answer(question, from: 1))
        #expect(table.count == 0)
        #expect(table.count(of: 1) == 0)
    }

    @Test("When a client disconnects, its callbacks go to another one, once")
    func moves() {
        table.declare(["sign"], by: 2, uid: 1_000)
        table.declare(["sign"], by: 3, uid: 1_000)
        let (first, _) = ask(origin: 1)
        let (other, _) = ask(origin: 1, "else")
        #expect(lose(1) == [.send(first, to: 3), .fail(other, .disconnected)])
        #expect(!answer(first, from: 1), "it gets no callbacks any more")
        #expect(lose(3) == [.fail(first, .disconnected)])
        #expect(table.count == 0)
    }

    @Test("Bounds: a full connection is skipped, and above the total there is no callback")
    func bounds() {
        table.declare(["sign"], by: 2, uid: 1_000)
        #expect(ask(origin: 1, perConnection: 1).action == .send(1, to: 1))
        #expect(ask(origin: 1, perConnection: 1).action == .send(2, to: 2))
        let ofConnection = CallbackTable.ReachedLimit(name: "callbacks_per_connection", value: 1)
        #expect(ask(origin: 1, perConnection: 1).action == .fail(3, .tooMany, ofConnection))
        let ofAll = CallbackTable.ReachedLimit(name: "all", value: 2, holder: .everyone)
        #expect(ask(origin: 1, inAll: 2).action == .fail(4, .tooMany, ofAll))
        table.close(1)
        #expect(ask(origin: 1, perConnection: 1).action == .send(5, to: 1))
    }

    @Test("B6: a client and a user have bounds of their own, which count open callbacks")
    func b6_bounds_of_clients_and_users() {
        let reached = { CallbackTable.ReachedLimit(name: $0, value: $1, holder: $2) }
        _ = ask(origin: 1, perClient: 1)
        #expect(ask(origin: 1, perClient: 1).action == .fail(2, .tooMany, reached("client", 1, .client)))
        #expect(ask(origin: 1, perClient: 1, client: "other").action == .send(3, to: 1))
        #expect(ask(origin: 1, perUser: 2, client: "third").action == .fail(4, .tooMany, reached("user", 2, .user)))
        #expect(ask(origin: 2, uid: 7, perUser: 2).action == .send(5, to: 2))
        #expect(lose(1) == [.fail(1, .disconnected), .fail(3, .disconnected)])
        #expect(ask(origin: 2, perClient: 1).action == .send(6, to: 2))
        table.close(6)
        #expect(ask(origin: 2, perClient: 1).action == .send(7, to: 2))
    }

    /// Every callback that was sent, and how often it has ended.
    private struct Ledger {
        var ends: [Int: Int] = [:]
        var open: Set<Int> { Set(ends.filter { $0.value == 0 }.keys) }

        mutating func note(_ actions: [CallbackTable.Action]) {
            for case .fail(let question, _, _) in actions { ends[question, default: 0] += 1 }
        }
    }

    @Test("With any events in any order, each callback ends exactly once", arguments: 0..<40)
    func interleavings(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        var ledger = Ledger()
        let names = ["a", "b", "c"]
        var newest = 4
        for _ in 0..<500 {
            let connection = Int.random(in: 1...newest, using: &random)
            let question = Int.random(in: 1...max(1, ledger.ends.count), using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                newest += 1
                live.insert(newest)
            case 1:
                table.declare(
                    names.filter { _ in Bool.random(using: &random) }, by: connection, uid: UInt32(connection % 2))
            case 2: ledger.note(lose(connection))
            case 3: if table.close(question) { ledger.ends[question, default: 0] += 1 }
            case 4...6:
                let origin = Bool.random(using: &random) ? connection : nil
                let asked = ask(
                    origin: origin, uid: UInt32(connection % 2), names.randomElement(using: &random) ?? "",
                    perConnection: 3, inAll: 20)
                ledger.ends[asked.question] = 0
                ledger.note([asked.action])
            default: if answer(question, from: connection) { ledger.ends[question, default: 0] += 1 }
            }
            #expect(table.count == ledger.open.count)
            #expect(table.count <= 20)
        }
        for connection in 1...newest { ledger.note(lose(connection)) }
        #expect(ledger.ends.values.allSatisfy { $0 == 1 })
        #expect(table.count == 0)
    }
}

/// The same numbers for the same seed (Steele, Lea and Flood's SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
