@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

/// Which kept requests are dropped when there are too many, and how often they are searched.
struct RetainedRequestsTests {
    private let session: Session
    private let stage: Stage

    init() throws {
        stage = try Stage()
        session = stage.server.sessions.standard(of: 1)
    }

    private func entry(_ sequence: Int, uid: UInt32 = 1, callBytes: Int = 0) -> RequestEntry {
        let request = session.request(RequestParameters(url: "http://a.test/"), id: "r_\(String(sequence, radix: 36))")
        request.recordError(.explicitlyCancelled)
        return RequestEntry(
            request: request, client: ClientIdentity(uid: uid, name: "me"), connection: 1, sequence: sequence,
            cancelsOnDisconnect: false, isKept: true, key: nil, fingerprint: 0, tags: nil, created: 0,
            callBytes: callBytes)
    }

    @Test("B5: at the bound in bytes a part of them is dropped at once, not one request at each end")
    func bytesGoTogether() {
        var registry = RequestRegistry()
        var limits = Limits()
        limits.retainedBytesPerUser = 16_777_216
        var searches = 0
        for sequence in 1...3_000 {
            let entry = entry(sequence, callBytes: 10_000)
            registry.insert(entry)
            let surplus = registry.finish(entry, at: 0, limits)
            if !surplus.isEmpty { searches += 1 }
            for entry in surplus { registry.remove(entry) }
            #expect(registry.retained.bytes <= limits.retainedBytesPerUser)
        }
        #expect((50...200).contains(searches), "of about 1,500 ends at the bound: \(searches)")
        #expect(registry.retained.bytes > limits.retainedBytesPerUser * 95 / 100)
    }

    @Test("B5: the newest stays if it fits, though a part more is dropped")
    func newestStays() {
        var registry = RequestRegistry()
        var limits = Limits()
        limits.retainedBytesPerUser = 1_048_576
        var entries = [entry(1, callBytes: 18_000), entry(2, callBytes: 1_035_000)]
        for entry in entries {
            registry.insert(entry)
            for surplus in registry.finish(entry, at: 0, limits) {
                registry.remove(surplus)
                entries.removeAll { $0 === surplus }
            }
        }
        #expect(entries.map(\.sequence) == [2])
    }

    @Test("B5: a failure that its client has read is dropped before older ones that no client has read")
    func readFirst() {
        var registry = RequestRegistry()
        var limits = Limits()
        limits.retainedRequestsPerUser = 3
        let entries = (1...4).map { entry($0) }
        for entry in entries[..<3] { #expect(finish(entry, &registry, limits).isEmpty) }
        entries[1].isRead = true
        #expect(finish(entries[3], &registry, limits).map(\.sequence) == [2])
    }

    @Test("B6: where numbers and bytes are both too much, the number is taken from the user with most requests")
    func numberOfMost() {
        var registry = RequestRegistry()
        var limits = Limits()
        limits.retainedRequests = 100
        limits.retainedBytes = 4_194_304
        for sequence in 1...8 { _ = finish(entry(sequence, uid: 2, callBytes: 500_000), &registry, limits) }
        for sequence in 9...100 { _ = finish(entry(sequence, uid: 3), &registry, limits) }
        let surplus = finish(entry(101, uid: 3, callBytes: 100_000), &registry, limits)
        #expect(!surplus.isEmpty)
        #expect(surplus.allSatisfy { $0.client.uid == 3 })
        for entry in surplus { registry.remove(entry) }
        // Then requests are dropped for their bytes, and they are the other's.
        let rest = registry.surplus(after: 3, limits)
        #expect(!rest.isEmpty)
        #expect(rest.allSatisfy { $0.client.uid == 2 })
        for entry in rest { registry.remove(entry) }
        #expect(registry.surplus(after: 3, limits).isEmpty)
    }

    private func finish(_ entry: RequestEntry, _ registry: inout RequestRegistry, _ limits: Limits) -> [RequestEntry] {
        registry.insert(entry)
        return registry.finish(entry, at: 0, limits)
    }

    @Test("B5: a dismissed request with pending answers counts as when it was kept")
    func dueRecord() {
        var registry = RequestRegistry()
        let entry = entry(1, callBytes: 300_000)
        registry.insert(entry)
        #expect(registry.finish(entry, at: 0, Limits()).isEmpty)
        #expect(entry.recordBytes == registry.retained.bytes)
        let before = stage.server.memory.output.total
        registry.remove(entry)
        stage.server.requests.beginDeferredAnswer(for: entry)
        #expect(entry.deferredBytes > 290_000)
        #expect(stage.server.memory.output.total - before == entry.deferredBytes)
        stage.server.requests.endDeferredAnswer(for: entry)
        #expect(stage.server.memory.output.total == before)
    }

    @Test("B5: the list of a session's fields counts for each request, and short lists do not")
    func sessionFields() throws {
        #expect(RequestParameters(url: "http://a.test/").memoryBytes(callBytes: 100, sessionFields: 20) == 0)
        let bytes = RequestParameters(url: "http://a.test/").memoryBytes(callBytes: 100, sessionFields: 1_000)
        #expect(bytes >= 32_000)
    }

    @Test("Requests are found and read in order, whichever were removed")
    func ordered() {
        var list = OrderedEntries<RequestEntry>()
        var expected: [Int] = []
        for number in 1...400 {
            list.insert(entry(number), at: number)
            expected.append(number)
            let gone = number % 3 == 0 ? expected.first : number % 3 == 1 ? expected[expected.count / 2] : nil
            guard let gone else { continue }
            list.remove(gone)
            list.remove(gone)
            expected.removeAll { $0 == gone }
        }
        func numbers(after number: Int) -> [Int] {
            var found: [Int] = []
            list.read(after: number) { number, _ in
                found.append(number)
                return true
            }
            return found
        }
        #expect(list.count == expected.count)
        #expect(numbers(after: 0) == expected)
        #expect(numbers(after: 350) == expected.filter { $0 > 350 })
        for number in expected { list.remove(number) }
        #expect(list.isEmpty && numbers(after: 0).isEmpty)
        list.insert(entry(7), at: 7)
        #expect(numbers(after: 0) == [7])
    }

    @Test("After a reload with a lower limit, the next request that ends lets all go that are too many")
    func lowerLimit() throws {
        let (server, client) = (stage.server, FakeClient())
        for _ in 0..<300 { try stage.finish(try stage.submit(client)) }
        #expect(server.requests.registry.count == 300)
        server.configuration.current.limits.retainedRequests = 10
        try stage.finish(try stage.submit(client))
        let end = MonotonicTime.read().advanced(milliseconds: 20_000)
        stage.run { server.requests.registry.count <= 10 || MonotonicTime.read() > end }
        #expect((1...10).contains(server.requests.registry.count))
    }
}
