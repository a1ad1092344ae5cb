import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
import Testing

struct CallTests {
    private static func call(_ client: FakeClient, id: RPCID?) -> Call {
        Call(id: id, params: .none, client: client, batch: nil)
    }

    @Test("Only the first answer counts")
    func once() throws {
        let client = FakeClient()
        let call = Self.call(client, id: try .number(1))
        call.answer { $0.integer(1) }
        call.answer { $0.integer(2) }
        call.fail(.draining)
        call.cancel()
        call.abandon()
        #expect(try client.answer(1)["result"]?.int == 1)
        #expect(client.answers.count == 1)
    }

    @Test("Cancelling ends its wait and sends an error; abandoning sends nothing", arguments: [true, false])
    func ends(_ isCancelled: Bool) throws {
        let client = FakeClient()
        let call = Self.call(client, id: try .number(1))
        var ends = 0
        call.onCancel = { ends += 1 }
        for _ in 0..<2 { if isCancelled { call.cancel() } else { call.abandon() } }
        #expect(ends == 1)
        #expect(call.isAnswered)
        #expect(client.answers.count == (isCancelled ? 1 : 0))
        if isCancelled { #expect(try client.answer(1)["error"]?["code"]?.int == -32_800) }
    }

    @Test("An answered call holds nothing any more, so that no ring is left", arguments: [true, false])
    func noRing(_ isAnswered: Bool) throws {
        let client = FakeClient()
        weak var held: Call?
        do {
            let call = Self.call(client, id: try .number(1))
            call.onCancel = { [call] in _ = call.isAnswered }
            held = call
            if isAnswered { call.answer { $0.null() } } else { call.abandon() }
        }
        #expect(held == nil)
    }
}
