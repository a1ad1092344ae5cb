@testable import CarpoolServer
@testable import CarpoolSession
import Testing

struct RequestRegistryTests {
    private let stage: Stage
    private let session: Session

    init() throws {
        stage = try Stage()
        session = stage.server.sessions.standard(of: 1)
    }

    private func entry(
        _ sequence: Int, client: String = "me", uid: UInt32 = 1, isKept: Bool = true, key: String? = nil,
        failed: Bool = false, callBytes: Int = 0
    ) -> RequestEntry {
        let request = session.request(RequestParameters(url: "http://a.test/"), id: "r_\(String(sequence, radix: 36))")
        if failed { request.recordError(.explicitlyCancelled) }
        return RequestEntry(
            request: request, client: ClientIdentity(uid: uid, name: client), connection: 1, sequence: sequence,
            cancelsOnDisconnect: !isKept, isKept: isKept, key: key, fingerprint: 0, tags: nil, created: 0,
            callBytes: callBytes)
    }

    private var limits: Limits {
        var limits = Limits()
        limits.queuedRequests = 3
        limits.queuedRequestsPerClient = 2
        limits.retainedRequests = 10
        limits.retentionMilliseconds = 1
        return limits
    }

    @Test("Quotas count unfinished requests, for each client and for all")
    func quotas() {
        var registry = RequestRegistry()
        let (me, you, third) = (
            ClientIdentity(uid: 1, name: "me"), ClientIdentity(uid: 1, name: "you"), ClientIdentity(uid: 2, name: "me")
        )
        let mine = [entry(1), entry(2)]
        for entry in mine { registry.insert(entry) }
        #expect(registry.refusal(of: me, limits)?.holder == .client)
        #expect(registry.refusal(of: third, limits) == nil, "the same name of another user")
        registry.insert(entry(3, client: "you"))
        #expect(registry.refusal(of: you, limits) != nil)
        #expect(registry.active == 3)
        _ = registry.finish(mine[0], at: 1, limits)
        _ = registry.finish(mine[0], at: 2, limits)
        #expect(registry.active == 2)
        #expect(mine[0].finished == 1)
        #expect(registry.refusal(of: me, limits) == nil)
        #expect(registry.underWay.count == 2)
    }

    @Test("Over the limit a tenth is dropped: read or successful ones first, unread failures last, each by age")
    func retention() {
        var registry = RequestRegistry()
        // 1 failed unread, 2 failed read, the rest succeeded.
        let entries = (1...11).map { entry($0, failed: $0 <= 2) }
        entries[1].isRead = true
        var surplus: [RequestEntry] = []
        for entry in entries {
            registry.insert(entry)
            surplus += registry.finish(entry, at: 0, limits)
        }
        #expect(surplus.map(\.sequence) == [2, 3])
        for entry in surplus { registry.remove(entry) }
        #expect(registry.count == 9)
    }

    @Test("Unread failures are dropped too if there is nothing else")
    func onlyFailures() {
        var registry = RequestRegistry()
        var gone: [Int] = []
        for sequence in 1...100 {
            let entry = entry(sequence, failed: true)
            registry.insert(entry)
            for surplus in registry.finish(entry, at: 0, limits) {
                gone.append(surplus.sequence)
                registry.remove(surplus)
            }
            #expect(registry.count <= 10)
        }
        #expect(gone == Array(1...gone.count))
    }

    /// Makes, ends and keeps requests, and dismisses the excess; returns the sequences that are left.
    private func keep(_ entries: [RequestEntry], in registry: inout RequestRegistry, _ limits: Limits) -> Set<Int> {
        var left = Set(entries.map(\.sequence))
        for entry in entries {
            registry.insert(entry)
            var surplus = registry.finish(entry, at: 0, limits)
            while !surplus.isEmpty {
                for entry in surplus {
                    registry.remove(entry)
                    left.remove(entry.sequence)
                }
                surplus = registry.surplus(after: entry.client.uid, limits)
            }
        }
        return left
    }

    @Test("B5: the bytes of a user's kept requests are bounded, and the latest stay")
    func retainedBytes() {
        var registry = RequestRegistry()
        var limits = Limits()
        limits.retainedBytesPerUser = 1_048_576
        let left = keep((1...100).map { entry($0, callBytes: 100_000) }, in: &registry, limits)
        #expect(left == Set(91...100) || left == Set(92...100))
        #expect(registry.retained.bytes <= limits.retainedBytesPerUser)
        #expect(registry.retained.bytes(of: 1) == registry.retained.bytes)
        #expect(registry.retained.bytes > limits.retainedBytesPerUser * 8 / 10)
        // One that is too large alone is dropped too.
        #expect(keep([entry(101, callBytes: 2_000_000)], in: &registry, limits).isEmpty)
        #expect(registry.retained.bytes == 0)
        #expect(registry.retained.count == 0)
    }

    @Test("B5: many small ones make room for a large one in parts")
    func retainedParts() {
        var registry = RequestRegistry()
        var limits = Limits()
        limits.retainedBytesPerUser = 4_194_304
        let left = keep(
            (1...1_300).map { entry($0) } + [entry(1_301, callBytes: 4_000_000)], in: &registry, limits)
        #expect(left.contains(1_301))
        #expect(registry.retained.bytes <= limits.retainedBytesPerUser)
    }

    @Test("B6: the kept requests of one user evict none of another's", arguments: [false, true])
    func retainedOfUsers(areLarge: Bool) {
        var registry = RequestRegistry()
        var limits = Limits()
        limits.retainedRequests = 100
        limits.retainedBytes = 4_194_304
        let mine = keep((1...30).map { entry($0) }, in: &registry, limits)
        let theirs = (31...400).map { entry($0, uid: 2, callBytes: areLarge ? 300_000 : 0) }
        let left = keep(theirs, in: &registry, limits)
        #expect(mine.count == 30)
        #expect(registry.retained.count(of: 1) == 30)
        #expect(left.contains(400))
        #expect(registry.retained.count(of: 2) == left.count)
        #expect(registry.retained.count <= 100)
        #expect(registry.retained.bytes <= limits.retainedBytes)
        // Of two that have as much each has its share.
        _ = keep((401...900).map { entry($0) }, in: &registry, limits)
        #expect(registry.retained.count(of: 1) >= 40)
        #expect(registry.retained.count(of: 2) >= (areLarge ? 6 : 40))
    }

    @Test("B5: a request that is kept after its end counts from then on")
    func keptLate() {
        var registry = RequestRegistry()
        let entry = entry(1, isKept: false)
        registry.insert(entry)
        #expect(registry.finish(entry, at: 0, limits).isEmpty)
        #expect(registry.retained.count == 0)
        entry.isKept = true
        #expect(registry.retain(entry, limits).isEmpty)
        #expect(registry.retain(entry, limits).isEmpty)
        #expect(registry.retained.count == 1)
        #expect(registry.expired(at: 10_000, limits).count == 1)
        registry.remove(entry)
        #expect(registry.retained.count == 0)
        #expect(registry.retained.bytes == 0)
    }

    @Test("B5: fields and tags of unfinished requests count as bodies do")
    func heldBytes() {
        var registry = RequestRegistry()
        let me = ClientIdentity(uid: 1, name: "me")
        var limits = Limits()
        limits.requestBodyBytesPerClient = 1_048_576
        let entries = (1...10).map { entry($0, callBytes: 100_000) }
        for entry in entries { registry.insert(entry) }
        #expect(registry.refusal(ofBytes: 100_000, me, limits)?.limit == "request_body_bytes_per_client")
        #expect(registry.refusal(ofBytes: 0, me, limits) == nil)
        _ = registry.finish(entries[0], at: 0, limits)
        #expect(registry.refusal(ofBytes: 100_000, me, limits) == nil)
    }

    @Test("B5: growth of an unfinished request counts until its end, and is refused beyond the bound")
    func grown() {
        var registry = RequestRegistry()
        let me = ClientIdentity(uid: 1, name: "me")
        var limits = Limits()
        limits.requestBodyBytesPerClient = 1_048_576
        let entry = entry(1)
        registry.insert(entry)
        #expect(registry.grow(entry, to: 1_000_000, limits) == nil)
        #expect(registry.refusal(ofBytes: 100_000, me, limits) != nil)
        #expect(registry.grow(entry, to: 1_100_000, limits)?.limit == "request_body_bytes_per_client")
        #expect(entry.grownBytes == 1_000_000, "what was counted stays")
        #expect(registry.grow(entry, to: 900_000, limits) == nil)
        #expect(registry.refusal(ofBytes: 100_000, me, limits) == nil)
        _ = registry.finish(entry, at: 0, limits)
        #expect(registry.refusal(ofBytes: 1_000_000, me, limits) == nil)
        #expect(registry.grow(entry, to: 1_000_000, limits) == nil)
        #expect(entry.grownBytes == 0, "nothing counts after the end")
    }

    @Test("A request that is dismissed before its end never counts as kept")
    func dismissedUnderWay() {
        var registry = RequestRegistry()
        for sequence in 1...50 {
            let entry = entry(sequence)
            registry.insert(entry)
            registry.remove(entry)
            registry.remove(entry)
            #expect(registry[entry.request.id] == nil)
            #expect(registry.known(entry.request.id) === entry, "its last events have an owner")
            #expect(registry.finish(entry, at: 0, limits).isEmpty)
            #expect(registry.known(entry.request.id) == nil)
        }
        #expect(registry.count == 0)
        #expect(!registry.hasUnreadResults)
        let last = entry(51)
        registry.insert(last)
        #expect(registry.finish(last, at: 0, limits).isEmpty)
        #expect(registry.hasUnreadResults)
        last.isRead = true
        #expect(!registry.hasUnreadResults)
    }

    @Test("Kept results expire; unfinished requests and those that are not kept do not")
    func expiry() {
        var registry = RequestRegistry()
        let entries = [entry(1), entry(2), entry(3, isKept: false), entry(4)]
        for entry in entries { registry.insert(entry) }
        for (entry, time) in zip(entries, [1_000, 1_001, 0]) { _ = registry.finish(entry, at: Int64(time), limits) }
        #expect(registry.expired(at: 2_000, limits).map(\.sequence) == [1])
        #expect(registry.expired(at: 1_999, limits).isEmpty)
    }

    @Test("A key belongs to one client, until its request is dismissed")
    func keys() {
        var registry = RequestRegistry()
        let (me, you) = (ClientIdentity(uid: 1, name: "me"), ClientIdentity(uid: 1, name: "you"))
        let first = entry(1, key: "k")
        registry.insert(first)
        registry.insert(entry(2, client: "you", key: "k"))
        #expect(registry.entry(of: me, key: "k") === first)
        #expect(registry.entry(of: you, key: "k")?.sequence == 2)
        _ = registry.finish(first, at: 0, limits)
        #expect(registry.entry(of: me, key: "k") === first)
        registry.remove(first)
        #expect(registry.entry(of: me, key: "k") == nil)
        let again = entry(3, key: "k")
        registry.insert(again)
        registry.remove(first)
        #expect(registry.entry(of: me, key: "k") === again)
    }

    @Test("Lists are in order, page by page")
    func pages() {
        var registry = RequestRegistry()
        for sequence in (1...7).shuffled() { registry.insert(entry(sequence)) }
        let dismissed = registry["r_4"]
        if let dismissed { registry.remove(dismissed) }
        func pages(_ limit: Int, where condition: (RequestEntry) -> Bool) -> [[Int]] {
            var (found, next): ([[Int]], Int?) = ([], 0)
            while let after = next {
                let page = registry.page(after: after, limit: limit, looks: 4, where: condition)
                found.append(page.entries.map(\.sequence))
                next = page.next
            }
            return found
        }
        #expect(pages(3) { _ in true } == [[1, 2, 3], [5, 6, 7]])
        #expect(pages(9) { $0.sequence > 5 } == [[], [6, 7]], "a page ends after a bounded number of requests")
        #expect(registry.page(of: ClientIdentity(uid: 1, name: "me"), after: 0, limit: 1) { _ in true }.next == 1)
        #expect(
            registry.page(of: ClientIdentity(uid: 1, name: "you"), after: 0, limit: 1) { _ in true }.entries.isEmpty)
    }

    @Test("B10: a client's page costs the same however many others there are, and gaps do not stay")
    func order() {
        var entries = OrderedEntries<RequestEntry>()
        let all = (1...2_000).map { entry($0) }
        for entry in all { entries.insert(entry, at: entry.sequence) }
        for entry in all where !entry.sequence.isMultiple(of: 100) { entries.remove(entry.sequence) }
        entries.remove(50)
        #expect(entries.count == 20)
        var found: [Int] = []
        entries.read(after: 1_850) { number, _ in
            found.append(number)
            return true
        }
        #expect(found == [1_900, 2_000])
        for entry in all { entries.remove(entry.sequence) }
        #expect(entries.isEmpty)
    }
}
