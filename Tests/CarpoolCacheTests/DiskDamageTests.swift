import CarpoolHTTP
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolCache

/// HS-03, HS-04, HS-05: what is damaged is not served, and the store goes on.
@Suite(.timeLimit(.minutes(2))) struct DiskDamageTests {
    private static let url = "https://example.com/a"

    enum IndexDamage: CaseIterable { case truncated, noise, empty, folder, foreign, short, newer }

    private static func damage(_ bench: DiskBench, _ damage: IndexDamage) throws {
        let path = "\(bench.folder)/index.db"
        let bytes = try #require(DiskBench.content(of: path))
        switch damage {
        case .truncated: try DiskBench.write(Array(bytes[..<(bytes.count / 2 / 4_096 * 4_096)]), to: path)
        case .noise: try DiskBench.write(DiskBench.bytes(bytes.count), to: path)
        case .empty: try DiskBench.write([], to: path)
        case .short: try DiskBench.write(Array(bytes[..<50]), to: path)
        case .folder:
            unlink(path)
            mkdir(path, 0o700)
        case .foreign:
            try DiskBench.write([], to: path)
            try Database(path: path).run("CREATE TABLE other (a)")
        case .newer: try Database(path: path).run("PRAGMA user_version = 99")
        }
        // As after an unclean end.
        try DiskBench.write([1], to: "\(path)-wal")
    }

    /// HS-05: an index that cannot be used is set aside, and a new one is begun.
    @Test(arguments: IndexDamage.allCases)
    func aDamagedIndexIsSetAside(_ damage: IndexDamage) throws {
        let bench = try DiskBench()
        var store = try bench.opened()
        for number in 0..<50 {
            _ = try bench.save(DiskBench.entry("\(Self.url)\(number)", body: DiskBench.bytes(20_000)), in: store)
        }
        try bench.close(store)
        try Self.damage(bench, damage)
        // One that is in the way is replaced.
        mkdir("\(bench.folder)/index.db.bad", 0o700)

        store = try bench.opened()
        #expect(store.state == .ready)
        let key = DiskBench.key("\(Self.url)1")
        #expect(try bench.load(key, from: store).isEmpty)
        #expect(!store.mayHave(key))
        let isQuiet = [.empty, .newer, .foreign].contains(damage)
        #expect(bench.events.count == (isQuiet ? 0 : 1), "\(bench.events)")
        if damage != .empty { #expect(access("\(bench.folder)/index.db.bad", F_OK) == 0) }
        // Files without a row go.
        try bench.until { bench.bodyFiles().isEmpty }
        #expect(try bench.save(DiskBench.entry(Self.url, body: [1]), in: store) != nil)
        try bench.close(store)
        store = try bench.opened()
        #expect(try bench.load(DiskBench.key(Self.url), from: store).count == 1)
    }

    /// HS-05: a page that is damaged while the store is open is noticed when it is read.
    @Test func damageIsNoticedWhileTheStoreIsOpen() throws {
        let bench = try DiskBench()
        var store = try bench.opened()
        for number in 0..<400 {
            store.save(
                DiskBench.entry("\(Self.url)\(number)", body: DiskBench.bytes(9_000)), body: DiskBench.bytes(9_000))
        }
        try bench.close(store)
        let path = "\(bench.folder)/index.db"
        var bytes = try #require(DiskBench.content(of: path))
        for place in stride(from: 8 * 4_096, to: bytes.count, by: 4_096) {
            for offset in 0..<64 { bytes[place + offset] = 0xA5 }
        }
        try DiskBench.write(bytes, to: path)
        // After a clean end nothing is checked.
        store = try bench.opened()
        for number in 0..<400 {
            for entry in try bench.load(DiskBench.key("\(Self.url)\(number)"), from: store) {
                #expect(entry.inline == DiskBench.bytes(9_000))
            }
        }
        #expect(!bench.events.isEmpty)
        try bench.waitForOpening(of: store)
        if case .ready = store.state {
            #expect(try bench.save(DiskBench.entry(Self.url, body: [1]), in: store) != nil)
            #expect(try bench.load(DiskBench.key(Self.url), from: store).count == 1)
        }
    }

    enum BodyDamage: CaseIterable { case flipped, missing, short, long, folder, link }

    /// HS-04: small bodies are compared before the first byte is passed on, large ones when the last is.
    @Test(arguments: BodyDamage.allCases, [100_000, 2_000_000])
    func aDamagedBodyIsNotServed(_ damage: BodyDamage, _ count: Int) throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        let body = DiskBench.bytes(count)
        let entry = DiskBench.entry(Self.url, body: body)
        _ = try bench.save(entry, in: store)
        let file = try #require(try bench.load(entry.key, from: store).first?.file)
        let path = try #require(bench.bodyFiles().first)
        var changed = body
        changed[count - 1] ^= 1
        switch damage {
        case .flipped: try DiskBench.write(changed, to: path)
        case .missing: unlink(path)
        case .short: try DiskBench.write(Array(body.dropLast()), to: path)
        case .long: try DiskBench.write(body + [0], to: path)
        case .folder:
            unlink(path)
            mkdir(path, 0o700)
        case .link:
            try DiskBench.write(body, to: "\(bench.root)/other")
            unlink(path)
            #expect(symlink("\(bench.root)/other", path) == 0)
        }
        if damage == .flipped, count > OpenBody.wholeBytes {
            let reader = store.reader(of: file)
            // All but the last piece are passed on; the last one is not.
            #expect(try bench.result { reader.read(from: 0, atMost: 10, then: $0) }.get() == Array(body[..<10]))
        }
        let result = try bench.read(file, from: store)
        #expect(result == .failure(damage == .flipped ? .corrupt : .missing))
        #expect(try bench.link(file, to: "\(bench.root)/link", in: store) == false)
        #expect(try bench.load(entry.key, from: store).isEmpty)
        #expect(!store.mayHave(entry.key))
        // A file that is missing was evicted, as a rule.
        if damage == .flipped { #expect(bench.events.contains(.damaged(1))) }
    }

    /// HS-03: a row is compared with its key and its checksum.
    @Test func aDamagedRowIsAMiss() throws {
        for change in ["head = X'00'", "body = X'000000'", "length = 4", "url = X'00'", "checksum = -1", "body = NULL"]
        {
            let bench = try DiskBench()
            var store = try bench.opened()
            let entry = DiskBench.entry(Self.url, body: [1, 2, 3])
            _ = try bench.save(entry, in: store)
            try bench.close(store)
            try Database(path: "\(bench.folder)/index.db").run("UPDATE entries SET \(change)")
            store = try bench.opened()
            #expect(store.mayHave(entry.key))
            #expect(try bench.load(entry.key, from: store).isEmpty, "\(change)")
            #expect(bench.events == [.damaged(1)])
            #expect(store.totals.entries == 0)
            #expect(!store.mayHave(entry.key))
        }
    }

    /// HS-07: a body that clients have a link to is read-only; a change by root is noticed.
    @Test func aLinkedFileThatWasChangedIsNotLinkedAgain() throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        let body = DiskBench.bytes(100_000)
        let entry = DiskBench.entry(Self.url, body: body)
        let file = try #require(try bench.save(entry, in: store)?.file)
        #expect(try bench.link(file, to: "\(bench.root)/one", in: store))
        var status = stat()
        #expect(lstat("\(bench.root)/one", &status) == 0 && status.st_mode & 0o777 == 0o400)
        #expect(try bench.link(file, to: "\(bench.root)/two", in: store))
        #expect(try !bench.link(file, to: "\(bench.root)/two", in: store), "it is there")
        #expect(try !bench.link(file, to: "/dev/shm/carpool-\(file.id)", in: store), "another file system")
        #expect(DiskBench.content(of: "\(bench.root)/two") == body)
        // Root may.
        #expect(chmod("\(bench.root)/one", 0o600) == 0)
        let other = try FileDescriptor.open("\(bench.root)/one", O_WRONLY)
        #expect(pwrite(other.raw, "xyz", 3, 5_000) == 3)
        #expect(try !bench.link(file, to: "\(bench.root)/three", in: store))
        #expect(try bench.load(entry.key, from: store).isEmpty)
        // What was handed over is not cut when its entry is removed.
        #expect(DiskBench.content(of: "\(bench.root)/two")?.count == body.count)
    }
}
