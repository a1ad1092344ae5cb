import Glibc
import Testing

@testable import CarpoolCache
@testable import CarpoolSystem

/// HS-01: stores that no session uses have a maximum too.
struct DormantStoresTests {
    private static func store(_ folder: String, _ bytes: Int, _ lastUse: Int) -> DormantStore {
        DormantStore(folder: folder, bytes: bytes, lastUse: lastUse)
    }

    @Test("What fits stays") func roomForAll() {
        let all = [Self.store("1.session.a", 40, 1), Self.store("2.session.b", 60, 2)]
        #expect(DormantStores.surplus(among: all, bytes: 100).isEmpty)
    }

    @Test("The user with the most bytes loses what was not used for the longest time")
    func largestUserFirst() {
        let all = [
            Self.store("1.session.old", 50, 1), Self.store("1.session.new", 50, 9),
            Self.store("2.session.oldest", 30, 0),
        ]
        #expect(DormantStores.surplus(among: all, bytes: 80) == ["1.session.old"])
        #expect(DormantStores.surplus(among: all, bytes: 79) == ["1.session.old", "1.session.new"])
        #expect(DormantStores.surplus(among: all, bytes: 0).count == 3)
    }

    @Test("A user has a maximum of stores, however small") func count() {
        let many = (0..<(DormantStores.maximumCount + 3)).map { Self.store("1.session.\($0)", 0, $0) }
        let other = Self.store("2.session.other", 0, 0)
        #expect(
            DormantStores.surplus(among: many + [other], bytes: 100) == (0..<3).map { "1.session.\($0)" })
    }

    @Test("A store that is open stays; any other is removed with all its files", .timeLimit(.minutes(1)))
    func removal() throws {
        let bench = try DiskBench()
        let parent = "\(bench.root)/cache/responses"
        let store = try bench.opened()
        for path in ["/small", "/large"] {
            _ = try bench.save(
                DiskBench.entry(path, body: DiskBench.bytes(path == "/large" ? 100_000 : 100)), in: store)
        }
        try bench.commit(store)
        let found = DormantStores.find(in: parent, except: [])
        #expect(found.map(\.folder) == ["store"] && found[0].bytes > 100_000)
        #expect(DormantStores.find(in: parent, except: ["store"]).isEmpty)
        DormantStores.remove("store", in: parent)
        #expect(access("\(bench.folder)/index.db", F_OK) == 0, "it is open")
        try bench.close(store)
        DormantStores.remove("store", in: parent)
        #expect(access(bench.folder, F_OK) != 0)
    }
}
