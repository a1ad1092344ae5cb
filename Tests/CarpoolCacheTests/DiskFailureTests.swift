import CarpoolHTTP
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolCache

/// HS-08, HS-09: disks that are full or gone, processes that are killed, and other daemons.
@Suite(.timeLimit(.minutes(2))) struct DiskFailureTests {
    private static func url(_ number: Int) -> String { "https://example.com/\(number)" }

    private static func isOff(_ store: DiskStore) -> Bool { if case .off = store.state { true } else { false } }

    /// A file system of a megabyte; only root can make one.
    private static func mountSmall(_ path: String) -> Bool {
        mkdir(path, 0o700) == 0 && mount("none", path, "tmpfs", 0, "size=1m") == 0
    }

    private static let canMount: Bool = {
        guard geteuid() == 0 else { return false }
        var template = Array("/tmp/carpool-disk-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { return false }
        let path = "\(String(cString: made))/small"
        let isMounted = mountSmall(path)
        if isMounted { umount2(path, Int32(MNT_DETACH)) }
        DiskBench.remove(String(cString: made))
        return isMounted
    }()

    /// HS-08: a full disk turns the store off for a while; requests go on, and what was to be removed is not served.
    @Test(.enabled(if: canMount, "only root can make a small file system"), arguments: [10_000, 100_000])
    func aFullDisk(_ count: Int) throws {
        let bench = try DiskBench()
        let small = "\(bench.root)/small"
        #expect(Self.mountSmall(small))
        defer {
            umount2(small, Int32(MNT_DETACH))
            DiskBench.remove(bench.root)
        }
        let store = try bench.opened(off: 300, folder: "\(small)/store")
        let body = DiskBench.bytes(count)
        var number = 0
        while case .ready = store.state, number < 300 {
            _ = try bench.save(DiskBench.entry(Self.url(number), body: body), in: store)
            number += 1
        }
        #expect(Self.isOff(store), "\(store.state)")
        let entry = DiskBench.entry(Self.url(999), body: body)
        #expect(!store.save(entry, body: body))
        #expect(!entry.isOnDisk)
        #expect(!store.mayHave(DiskBench.key(Self.url(0))))
        #expect(try bench.load(DiskBench.key(Self.url(0)), from: store).isEmpty)
        #expect(try bench.purge(.url(Self.url(0)), in: store) == nil)
        // Another failure in the same minute is not reported again.
        try bench.until { store.wake() }
        try bench.waitForOpening(of: store)
        var tries = 0
        while case .ready = store.state, tries < 300 {
            _ = try bench.save(DiskBench.entry(Self.url(1_000 + tries), body: body), in: store)
            tries += 1
        }
        #expect(bench.events.count == 1, "\(bench.events)")
        // There is room again.
        for path in FolderListing.names(in: "\(small)/store/body/00") { unlink("\(small)/store/body/00/\(path)") }
        #expect(mount("none", small, "tmpfs", UInt(MS_REMOUNT), "size=64m") == 0)
        try bench.until { store.wake() }
        try bench.waitForOpening(of: store)
        #expect(store.state == .ready)
        #expect(try bench.load(DiskBench.key(Self.url(0)), from: store).isEmpty)
        for number in 1..<number {
            for found in try bench.load(DiskBench.key(Self.url(number)), from: store) {
                let bytes = try found.file.map { try bench.read($0, from: store).get() } ?? found.inline
                #expect(bytes == body)
            }
        }
        #expect(try bench.save(entry, in: store) != nil)
        try bench.close(store)
    }

    /// HS-08: a folder that was removed is made again after a while.
    @Test(arguments: [10, 100_000]) func aRemovedFolder(_ count: Int) throws {
        let bench = try DiskBench()
        let store = try bench.opened(off: 200)
        let entry = DiskBench.entry(Self.url(1), body: DiskBench.bytes(count))
        #expect(try bench.save(entry, in: store) != nil)
        let key = store.credentialHash?.bytes(of: [1])
        try bench.commit(store)
        DiskBench.remove(bench.root + "/cache")
        let other = DiskBench.entry(Self.url(2), body: DiskBench.bytes(count))
        #expect(try bench.save(other, in: store) == nil)
        #expect(!other.isOnDisk)
        #expect(Self.isOff(store), "\(store.state)")
        #expect(bench.events.count == 1)
        try bench.until { store.wake() }
        try bench.waitForOpening(of: store)
        #expect(store.state == .ready)
        #expect(!store.mayHave(entry.key))
        #expect(try bench.save(other, in: store) != nil)
        #expect(try bench.load(other.key, from: store).count == 1)
        // Hashes of credentials are compared in memory too: their key stays.
        #expect(store.credentialHash?.bytes(of: [1]) == key)
        #expect(DiskBench.content(of: "\(bench.folder)/key").map { KeyedHash(key: $0).bytes(of: [1]) } == key)
    }

    @Test func aFolderThatCannotBeMade() throws {
        let bench = try DiskBench()
        try DiskBench.write([], to: "\(bench.root)/file")
        let store = try bench.opened(folder: "\(bench.root)/file/store")
        #expect(Self.isOff(store), "\(store.state)")
        #expect(bench.events.count == 1)
        #expect(!store.mayHave(DiskBench.key(Self.url(1))))
        #expect(!store.save(DiskBench.entry(Self.url(1), body: [1]), body: [1]))
        try bench.close(store)
    }

    /// What a failure has left to be removed must not be there in the next run: rather nothing is.
    @Test func aRemovalThatCannotBeDoneRemovesAll() throws {
        let bench = try DiskBench()
        var store = try bench.opened()
        for number in 0..<3 { store.save(DiskBench.entry(Self.url(number), body: [1]), body: [1]) }
        try bench.until { store.counters.saved == 3 }
        try bench.commit(store)
        // As a disk that fails: the next job finds another file.
        rename("\(bench.folder)/index.db", "\(bench.folder)/moved.db")
        #expect(try bench.purge(.url(Self.url(0)), in: store) == nil)
        rename("\(bench.folder)/moved.db", "\(bench.folder)/index.db")
        #expect(store.owed == [DiskRemoval(filter: .url(Self.url(0)), isSoft: false)])
        try bench.close(store)
        store = try bench.opened()
        #expect(store.state == .ready)
        #expect(store.totals.entries == 0)
    }

    /// A removal that a lost transaction contained is done when the store is open again.
    @Test func aLostRemovalIsDoneAgain() throws {
        let bench = try DiskBench()
        let store = try bench.opened(off: 100)
        let entries = (0..<3).map { DiskBench.entry(Self.url($0), body: [1]) }
        for entry in entries { store.save(entry, body: [1]) }
        try bench.until { store.counters.saved == 3 }
        try bench.commit(store)
        // Both are in a transaction that fails before its end.
        store.remove([entries[0].id])
        store.invalidateAll(under: entries[1].key)
        var failed = false
        store.run(
            { vault -> DiskReport<Void> in
                vault.perform { _ throws(DiskError) in throw DiskError(.failed, "as a disk that fails") }
            }, then: { _ in failed = true })
        try bench.until { failed }
        #expect(Self.isOff(store), "\(store.state)")
        #expect(store.owed.count == 2)
        try bench.until { store.wake() }
        #expect(try bench.load(entries[0].key, from: store).isEmpty)
        let found = try bench.load(entries[1].key, from: store)
        #expect(found.map(\.response.isInvalidated) == [true])
        #expect(try bench.load(entries[2].key, from: store).map(\.response.isInvalidated) == [false])
        #expect(store.owed.isEmpty)
    }

    /// HS-09: one process has a store; another one keeps responses in memory alone, until the first has ended.
    @Test func aStoreBelongsToOneProcess() throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        let entry = DiskBench.entry(Self.url(1), body: [1])
        _ = try bench.save(entry, in: store)
        let second = try bench.opened(off: 100)
        #expect(second.state == .inUse)
        #expect(!second.mayHave(entry.key))
        #expect(!second.save(DiskBench.entry(Self.url(2), body: [1]), body: [1]))
        #expect(try bench.load(entry.key, from: second).isEmpty)
        #expect(bench.events.isEmpty)
        #expect(try bench.load(entry.key, from: store).count == 1)
        try bench.close(store)
        try bench.until { second.wake() }
        #expect(try bench.load(entry.key, from: second).count == 1)
        #expect(second.state == .ready)
    }

    /// A store that was not closed is not left locked.
    @Test func aReleasedStoreIsClosed() throws {
        let bench = try DiskBench()
        var store: DiskStore? = try bench.opened()
        try store.map { _ = try bench.save(DiskBench.entry(Self.url(1), body: [1]), in: $0) }
        store = nil
        try bench.until { bench.worker.isIdle }
        let again = try bench.opened()
        #expect(again.state == .ready)
        #expect(again.totals.entries == 1)
    }

    /// Jobs that wait are bounded: what is more is not saved, and counted.
    @Test func onlySoManyJobsWait() throws {
        let bench = try DiskBench()
        let store = bench.opening()
        var accepted = 0
        for number in 0..<1_500 where store.save(DiskBench.entry(Self.url(number), body: [1]), body: [1]) {
            accepted += 1
        }
        #expect(accepted == DiskStore.maximumJobs - 1)
        #expect(store.counters.refused == 1_500 - accepted)
        var found: [CacheEntry]?
        store.load(DiskBench.key(Self.url(0))) { found = $0 }
        #expect(found?.isEmpty == true)
        // A removal is never refused.
        #expect(try bench.purge(.url(Self.url(0)), in: store) == 1)
        #expect(store.totals.entries == accepted - 1)
        let large = [UInt8](repeating: 1, count: 20_000_000)
        #expect(store.save(DiskBench.entry(Self.url(0), body: large), body: large))
        #expect(!store.save(DiskBench.entry(Self.url(1), body: large), body: large))
        try bench.until { store.counters.saved == accepted + 1 }
        #expect(store.save(DiskBench.entry(Self.url(1), body: large), body: large))
        try bench.close(store)
    }

    /// What a slow disk does not take stays in memory, and is counted.
    @Test func whatIsNotWrittenIsCounted() throws {
        let bench = try DiskBench()
        let disk = try bench.opened()
        let store = ResponseStore(
            CacheStoreName(user: 1, name: "s"), settings: CacheSettings(), isProvisional: false,
            ledger: MemoryLedger(maximumBytes: 1 << 30), disk: disk)
        let large = [UInt8](repeating: 1, count: 20_000_000)
        for number in 0..<2 {
            store.store(DiskBench.entry(Self.url(number), body: large), onDisk: true, ttlMilliseconds: nil) { _ in [] }
        }
        #expect(store.counters.stored == 2 && store.counters.writeFailures == 1)
        #expect(store.entries(under: DiskBench.key(Self.url(1)))?.first?.isOnDisk == false)
        try bench.close(disk)
    }

    /// HK-04: without its key the store takes no entry with credentials.
    @Test func withoutTheKeyNoCredentials() throws {
        let bench = try DiskBench()
        var store = try bench.opened()
        try bench.close(store)
        chmod("\(bench.folder)/key", 0o644)
        store = try bench.opened()
        #expect(store.state == .ready)
        #expect(store.credentialHash == nil)
        let secret = DiskBench.entry(Self.url(1), body: [1], response: DiskBench.response(credentials: [1]))
        #expect(try bench.save(secret, in: store) == nil)
        #expect(!secret.isOnDisk)
        #expect(store.state == .ready)
        #expect(try bench.save(DiskBench.entry(Self.url(2), body: [1]), in: store) != nil)
        #expect(bench.events.isEmpty)
    }
}
