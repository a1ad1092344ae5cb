import CarpoolHTTP
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolCache

/// What is saved is found again, in this run and the next one.
@Suite(.timeLimit(.minutes(2))) struct DiskStoreTests {
    private static let url = "https://example.com/a?b=1"

    /// HS-02: private folders and files; the index and the key are there.
    @Test func anEntryIsFoundAfterTheStoreWasOpenedAgain() throws {
        let bench = try DiskBench()
        var store = try bench.opened()
        #expect(store.state == .ready)
        let vary = [
            CachedResponse.VaryField(name: "accept", value: Array("text/html".utf8)),
            CachedResponse.VaryField(name: "x", value: nil),
        ]
        var response = DiskBench.response(
            ["Content-Type: text/plain", "ETag: \"1\"", "X-Empty:", "x-b: \u{e4}"], vary: vary,
            credentials: DiskBench.bytes(32))
        response.ttlMilliseconds = 77
        response.isDecoded = true
        let entry = DiskBench.entry(Self.url, body: Array("hello".utf8), response: response)
        entry.hits = 3
        #expect(try bench.save(entry, in: store) != nil)
        #expect(entry.isOnDisk)
        let key = try #require(DiskBench.content(of: "\(bench.folder)/key"))
        try bench.close(store)
        #expect(!store.save(entry, body: []))
        // A log that is left would mean an unclean end.
        #expect(Set(FolderListing.names(in: bench.folder)) == ["body", "index.db", "key", "tmp"])

        store = try bench.opened()
        #expect(store.mayHave(entry.key))
        #expect(!store.mayHave(DiskBench.key("https://example.com/b")))
        let found = try #require(try bench.load(entry.key, from: store).first)
        #expect(found.id == entry.id)
        #expect(found.isOnDisk)
        #expect(found.hits == 3)
        #expect(found.inline == Array("hello".utf8))
        #expect(found.response.fields.lines == response.fields.lines)
        #expect(found.response.vary == vary)
        #expect(found.response.credentials == response.credentials)
        #expect(found.response.ttlMilliseconds == 77)
        #expect(found.response.isDecoded)
        #expect(found.response.received == CacheTime(wall: 1_000_000, uptime: nil))
        #expect(found.response.bodyBytes == 5)
        #expect(DiskBench.content(of: "\(bench.folder)/key") == key)
        #expect(key.count == 32)
        #expect(store.credentialHash?.bytes(of: [1]) == KeyedHash(key: key).bytes(of: [1]))
        for (name, mode): (String, UInt32) in [
            ("", 0o700), ("/body", 0o700), ("/tmp", 0o700), ("/key", 0o600), ("/index.db", 0o600),
        ] {
            #expect(DiskBench.mode(of: bench.folder + name) == mode, "\(name)")
        }
    }

    /// HS-02, HS-03: a body of more than 16 KiB is a file without a header.
    @Test(arguments: [16_384, 16_385, 1_048_576, 1_048_577, 3_000_000])
    func aLargeBodyIsAFile(_ count: Int) throws {
        let bench = try DiskBench()
        var store = try bench.opened()
        let body = DiskBench.bytes(count)
        let entry = DiskBench.entry(Self.url, body: body)
        let saved = try #require(try bench.save(entry, in: store))
        #expect((saved.file == nil) == (count <= 16_384))
        try bench.close(store)
        store = try bench.opened()
        let found = try #require(try bench.load(entry.key, from: store).first)
        #expect(found.body.count == count)
        guard let file = found.file else {
            #expect(found.inline == body)
            return #expect(bench.bodyFiles() == [])
        }
        #expect(file == saved.file)
        let path = try #require(bench.bodyFiles().first)
        #expect(DiskBench.mode(of: path) == 0o400)
        #expect(DiskBench.content(of: path) == body)
        #expect(try bench.read(file, from: store).get() == body)
        let reader = store.reader(of: file)
        let middle = try bench.result { reader.read(from: count / 2, atMost: 100, then: $0) }.get()
        #expect(middle == Array(body[(count / 2)..<(count / 2 + 100)]))
        #expect(try bench.result { reader.read(from: count, atMost: 100, then: $0) }.get() == [])
    }

    /// HS-02: a body that was written is not one that waits to be written.
    @Test func moreThanMayWaitIsWrittenOneAfterTheOther() throws {
        let bench = try DiskBench()
        let store = try bench.opened()
        let body = [UInt8](repeating: 7, count: DiskStore.maximumWaitingBytes / 4)
        for number in 0..<5 {
            let entry = DiskBench.entry("https://example.com/\(number)", body: body)
            #expect(try bench.save(entry, in: store) != nil, "\(number)")
        }
    }
}
