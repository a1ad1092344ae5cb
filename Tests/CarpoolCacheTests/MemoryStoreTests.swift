import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// Memory by last use, divided among users (HS-01).
struct MemoryStoreTests {
    private let partition: ConnectionPartition

    init() throws { partition = TransportRequest(method: .get, url: try HTTPURL("http://a.test/")).connectionPartition }

    private func key(_ number: Int) -> CacheKey { CacheKey(partition: partition, url: "http://a.test/\(number)") }

    private func entry(_ number: Int, bytes: Int = 10) throws -> CacheEntry {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=60"])
        let response = try #require(scene.stored.first)
        return CacheEntry(
            key: key(number), response: response, body: .memory([UInt8](repeating: 7, count: bytes)),
            lastUse: CacheScene.time(0))
    }

    private func add(_ number: Int, bytes: Int = 10, to store: MemoryStore) throws {
        store.set([try entry(number, bytes: bytes)], under: key(number))
    }

    @Test("HS-01: a store that was emptied stores again, any number of times")
    func emptied() throws {
        let ledger = MemoryLedger(maximumBytes: 1_000_000)
        let store = MemoryStore(user: 7, ledger: ledger)
        for round in 0..<50 {
            for number in 0...round % 4 { try add(number, to: store) }
            #expect(store.entryCount == round % 4 + 1 && ledger.bytes == store.bytes && ledger.bytes > 0)
            if round % 2 == 0 {
                store.removeAll()
            } else {
                for number in 0...round % 4 { store.set([], under: key(number)) }
            }
            #expect(store.records.isEmpty && ledger.bytes == 0 && ledger.bytes(of: 7) == 0)
        }
    }

    @Test("HS-01: the user with the most bytes loses what was not used for the longest time")
    func eviction() throws {
        let ledger = MemoryLedger(maximumBytes: 40_000)
        let (large, small) = (MemoryStore(user: 1, ledger: ledger), MemoryStore(user: 2, ledger: ledger))
        try add(100, bytes: 5_000, to: small)
        for number in 0..<3 { try add(number, bytes: 8_000, to: large) }
        // The first is used again, so the second is the oldest.
        _ = large.entries(under: key(0))
        try add(3, bytes: 8_000, to: large)
        #expect(ledger.bytes <= 40_000 && small.entries(under: key(100))?.count == 1)
        #expect((0..<4).filter { large.records[key($0)] != nil } == [0, 2, 3])
        #expect(ledger.bytes(of: 1) == large.bytes && ledger.bytes(of: 2) == small.bytes)
    }

    @Test("A record that is unlinked in the middle leaves its neighbours linked")
    func middle() throws {
        let ledger = MemoryLedger(maximumBytes: 1_000_000)
        let store = MemoryStore(user: nil, ledger: ledger)
        for number in 0..<5 { try add(number, to: store) }
        for number in [2, 0, 4] { store.set([], under: key(number)) }
        try add(9, to: store)
        _ = store.entries(under: key(1))
        store.removeAll()
        #expect(ledger.bytes == 0)
    }
}
