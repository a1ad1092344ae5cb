@testable import CarpoolServer
import CarpoolSession
import Testing

struct ClientResourcesTests {
    @Test("The requests of a connection that closes end in slices, the latest first")
    func order() throws {
        let stage = try Stage()
        let client = FakeClient()
        let entries = try (0..<50).map { _ in try stage.submit(client) }
        for entry in entries { client.resources.dependents[entry.sequence] = entry }
        var ended: [Int] = []
        let release = ClientResources.Release {
            ended.append($0.sequence)
        } removeSubscription: { _ in
        } endWatch: { _ in
        } endSession: { _ in
        }
        var slices = 1
        while client.resources.releaseSlice(release, until: { ended.count % 7 == 0 }) { slices += 1 }
        #expect(ended == entries.map(\.sequence).reversed())
        #expect(slices == 8)
        #expect(client.resources.dependents.isEmpty)
    }

    @Test("The subscriptions of a connection that closes are removed")
    func subscriptions() {
        let client = FakeClient()
        for id in ["s-1", "s-2"] {
            client.resources.subscriptions[id] = Subscription(
                id: id, filter: EventFilter(patterns: ["*"], scope: .everyone), sink: client, reader: client.identity,
                queue: EventQueue(position: 0, last: 0))
        }
        var removed: Set<String> = []
        let release = ClientResources.Release { _ in
        } removeSubscription: {
            removed.insert($0.id)
        } endWatch: { _ in
        } endSession: { _ in
        }
        #expect(!client.resources.releaseSlice(release, until: { false }))
        #expect(removed == ["s-1", "s-2"])
        #expect(client.resources.subscriptions.isEmpty)
    }
}
