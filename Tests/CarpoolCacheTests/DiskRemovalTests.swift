import CarpoolHTTP
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolCache

/// HS-06 and purging: what goes, what stays, and that the keys in memory follow.
@Suite(.timeLimit(.minutes(2))) struct DiskRemovalTests {
    private static func url(_ number: Int) -> String { "https://example.com/\(number)" }

    /// HS-06: what is of no use any more first, then what was used the longest time ago.
    @Test func evictionBeginsWithWhatIsOfNoUse() throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        let now = WallClock.microseconds() / 1_000
        for number in 0..<200 {
            let body = DiskBench.bytes(number % 2 == 0 ? 20_000 : 1_000)
            let entry = DiskBench.entry(Self.url(number), body: body, lastUse: now - Int64(1_000 - number))
            // The most recently used are of no use.
            let saved = try bench.save(entry, in: store, usableUntil: number >= 150 ? now - 5_000 : now + 1_000_000)
            #expect(saved != nil)
        }
        #expect(store.totals.entries == 200)
        let before = store.totals.bytes
        #expect((2_148_000..<2_300_000).contains(before))
        store.maximumBytes = before * 6 / 10
        try bench.until { store.totals.bytes <= store.maximumBytes && !store.isEvicting }
        #expect(store.totals.bytes > store.maximumBytes * 8 / 10)
        #expect(store.counters.evicted == 200 - store.totals.entries)
        let left = try (0..<200).filter { try !bench.load(DiskBench.key(Self.url($0)), from: store).isEmpty }
        #expect(left.count == store.totals.entries)
        #expect(left == Array((150 - left.count)..<150))
        #expect(bench.bodyFiles().count == left.count { $0 % 2 == 0 })
        for number in 0..<200 { #expect(store.mayHave(DiskBench.key(Self.url(number))) == left.contains(number)) }
        // A body that could never stay is not written.
        store.maximumBytes = 10_000
        #expect(
            !store.save(DiskBench.entry("https://b/", body: DiskBench.bytes(10_001)), body: DiskBench.bytes(10_001)))
    }

    /// HS-07: a reader is not cut by eviction or replacement.
    @Test func aReaderKeepsItsFile() throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        let body = DiskBench.bytes(3_000_000)
        let entry = DiskBench.entry(Self.url(1), body: body)
        let file = try #require(try bench.save(entry, in: store)?.file)
        let reader = store.reader(of: file)
        var read = try bench.result { reader.read(from: 0, atMost: 100_000, then: $0) }.get()
        let other = DiskBench.entry(Self.url(1), body: DiskBench.bytes(20_000, seed: 2))
        #expect(try bench.save(other, in: store) != nil)
        #expect(bench.bodyFiles().count == 1)
        while read.count < body.count {
            read += try bench.result { reader.read(from: read.count, atMost: 100_000, then: $0) }.get()
        }
        #expect(read == body)
        #expect(try bench.purge(.all, in: store) == 1)
        #expect(bench.bodyFiles().isEmpty)
    }

    /// A use is written at most once a minute, and counts for eviction.
    @Test func aUseIsWritten() throws {
        let bench = try DiskBench()
        var store = try bench.opened()
        let entry = DiskBench.entry(Self.url(1), body: [1], lastUse: 5)
        _ = try bench.save(entry, in: store)
        for use in 1...3 {
            entry.hits = use
            entry.lastUse = CacheTime(wall: Int64(use) * 1_000, uptime: nil)
            store.touch(entry)
        }
        try bench.close(store)
        store = try bench.opened()
        let found = try #require(try bench.load(entry.key, from: store).first)
        #expect(found.hits == 1)
        #expect(found.lastUse == CacheTime(wall: 1_000, uptime: nil))
    }

    /// An old row goes when a response for the same requests is saved, whether it is in memory or not.
    @Test func aVariantReplacesThatForTheSameRequests() throws {
        let bench = try DiskBench()
        var store = try bench.opened()
        func entry(_ value: String, _ body: [UInt8], received: Int64) -> CacheEntry {
            let vary = [CachedResponse.VaryField(name: "a", value: Array(value.utf8))]
            return DiskBench.entry(
                Self.url(1), body: body, response: DiskBench.response(vary: vary, received: received),
                lastUse: received)
        }
        let first = entry("1", DiskBench.bytes(20_000), received: 10)
        _ = try bench.save(first, in: store)
        _ = try bench.save(entry("2", [2], received: 20), in: store)
        try bench.close(store)
        store = try bench.opened()
        _ = try bench.save(entry("1", [3], received: 30), in: store)
        let found = try bench.load(first.key, from: store)
        #expect(found.map(\.inline) == [[3], [2]])
        #expect(bench.bodyFiles().isEmpty)
        // HK-05: the 17th drops the least used.
        for number in 3..<30 { _ = try bench.save(entry("\(number)", [9], received: Int64(number) * 10), in: store) }
        let last = try bench.load(first.key, from: store)
        #expect(last.count == 16)
        #expect(last.first?.response.vary.first?.value == Array("29".utf8))
        #expect(last.last?.response.vary.first?.value == Array("14".utf8))
        #expect(store.totals.entries == 16)
    }

    /// HV-02: a 304 replaces the head; a row that is now for the same requests goes.
    @Test func aHeadIsReplaced() throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        let old = DiskBench.entry(Self.url(1), body: [1])
        let entry = DiskBench.entry(
            Self.url(1), body: [2],
            response: DiskBench.response(vary: [CachedResponse.VaryField(name: "a", value: nil)], received: 5))
        _ = try bench.save(old, in: store)
        _ = try bench.save(entry, in: store)
        #expect(try bench.load(entry.key, from: store).count == 2)
        let bytes = store.totals.bytes
        var response = DiskBench.response(["ETag: \"a much longer one\"", "X: y"], received: 99)
        response.bodyBytes = 1
        response.isInvalidated = true
        entry.response = response
        store.replaceHead(of: entry)
        let found = try bench.load(entry.key, from: store)
        #expect(found.map(\.id) == [entry.id])
        #expect(found.first?.response.isInvalidated == true)
        #expect(found.first?.response.fields.lines == ["ETag: \"a much longer one\"", "X: y"])
        #expect(found.first?.inline == [2])
        #expect(store.totals.bytes < bytes)
        // The bytes are those of the rows, whatever was replaced.
        let counted = store.totals
        try bench.close(store)
        let again = try bench.opened()
        #expect(again.totals == counted)
    }

    /// What is added is done in order, whether it has been committed or not.
    @Test func lookUpsSeeWhatWasSavedBefore() throws {
        let bench = try DiskBench()
        let store = bench.opening()
        let key = DiskBench.key(Self.url(1))
        let entry = DiskBench.entry(Self.url(1), body: [1])
        var seen: [[Int]] = []
        func look() { store.load(key) { seen.append($0.map(\.response.status)) } }
        #expect(store.mayHave(key))
        look()
        #expect(store.save(entry, body: [1]))
        look()
        entry.response.status = 203
        entry.response.bodyBytes = 1
        store.replaceHead(of: entry)
        look()
        store.remove([entry.id])
        #expect(store.mayHave(key))
        #expect(store.save(entry, body: [1]))
        look()
        store.removeAll(under: key)
        look()
        try bench.until { seen.count == 5 }
        #expect(seen == [[], [200], [203], [203], []])
        #expect(!store.mayHave(key))
    }

    @Test(arguments: [
        (DiskFilter.all, 300), (.url("https://a.com/7"), 1), (.url("https://a.com/"), 0),
        (.prefix("https://a.com/1"), 11),
        (.prefix("https://a.c"), 300), (.prefix(""), 300), (.origin("https://a.com"), 100),
        (.origin("https://a.com/"), 100),
        (.receivedBefore(50), 150), (.ids([]), 0),
        (.key(DiskKey(high: 1, low: 1)), 0),
    ])
    func aPurgeRemovesWhatItNames(_ filter: DiskFilter, _ count: Int) throws {
        for isSoft in [false, true] {
            let bench = try DiskBench()
            let store = try bench.opened()
            var keys: [CacheKey] = []
            for (place, host) in ["a.com", "a.com.b", "a.com:81"].enumerated() {
                for number in 0..<100 {
                    let url = "https://\(host)/\(place == 0 ? number : number + 1_000_000)"
                    let entry = DiskBench.entry(url, body: [1], response: DiskBench.response(received: Int64(number)))
                    keys.append(entry.key)
                    store.save(entry, body: [1])
                }
            }

            #expect(try bench.purge(filter, in: store, isSoft: isSoft) == count)
            let left = try bench.result { store.list(.all, limit: 1_000, then: $0) }
            #expect(left.count == 300 - (isSoft ? 0 : count))
            #expect(left.count { $0.response.isInvalidated } == (isSoft ? count : 0))
            #expect(store.totals.entries == left.count)
            #expect(keys.count { store.mayHave($0) } == left.count)
        }
    }

    @Test func aListIsReadInParts() throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        for number in 0..<25 { store.save(DiskBench.entry(Self.url(number), body: [1, 2]), body: [1, 2]) }
        var urls: Set<String> = []
        var (last, parts) = (Int64(0), 0)
        while true {
            let rows = try bench.result { store.list(.origin("https://example.com"), after: last, limit: 10, then: $0) }
            guard let end = rows.last else { break }
            urls.formUnion(rows.map(\.url))
            #expect(rows.allSatisfy { $0.length == 2 && $0.hits == 0 && $0.response.status == 200 })
            (last, parts) = (end.id, parts + 1)
        }
        #expect(urls.count == 25)
        #expect(parts == 3)
    }

    /// HI-01: all variants, whether they are in memory or not.
    @Test func aKeyIsInvalidated() throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        for number in 0..<3 {
            let vary = [CachedResponse.VaryField(name: "a", value: [UInt8(number)])]
            let entry = DiskBench.entry(Self.url(1), body: [1], response: DiskBench.response(vary: vary))
            store.save(entry, body: [1])
        }
        store.save(DiskBench.entry(Self.url(2), body: [1]), body: [1])
        store.invalidateAll(under: DiskBench.key(Self.url(1)))
        let found = try bench.load(DiskBench.key(Self.url(1)), from: store)
        #expect(found.count == 3)
        #expect(found.allSatisfy { $0.response.isInvalidated })
        let other = try bench.load(DiskBench.key(Self.url(2)), from: store)
        #expect(other.first?.response.isInvalidated == false)
    }
}
