internal import CarpoolCache
internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC

/// The place in a list of stored responses: the last one of the page before, and its store. Stores may come and go
/// between two pages.
struct CacheListPlace {
    /// The store; `nil` for the first one.
    var store: CacheStoreName?
    /// The number of the response.
    var id: Int64 = 0

    /// The place of a response.
    static func text(_ store: CacheStoreName, _ id: Int64) -> String {
        "\(String(id, radix: 16)).\(store.isShared ? "shared" : "session").\(store.name)"
    }

    /// The place that `next` names; the beginning without it.
    init(_ call: Call, of user: UInt32?) throws(RPCError) {
        guard let next = call.params["next"]?.string else { return }
        let parts = next.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let id = Int64(parts[0], radix: 16), id >= 0,
            parts[1] == "shared" || parts[1] == "session"
        else {
            throw .invalidParams(
                path: "params.next", message: "not the `next` of a page: \(next.prefix(64).debugDescription)",
                expected: "`next` of the last page, as it was")
        }
        store = CacheStoreName(user: user, name: String(parts[2]), isShared: parts[1] == "shared")
        self.id = id
    }

    /// The stores that follow, and the number in the first of them.
    func rest(of stores: [CacheStoreName]) -> (stores: ArraySlice<CacheStoreName>, id: Int64) {
        guard let store else { return (stores[...], 0) }
        let rest = stores.drop { $0.precedes(store) }
        return (rest, rest.first == store ? id : 0)
    }
}

/// A search for stored responses in one store after the other, until a page is full.
final class CacheSearch {
    /// A response that was found.
    struct Found {
        let summary: CachedResponseSummary
        /// Its place in the list, for the next page.
        let place: String
    }

    private var stores: ArraySlice<CacheStoreName>
    private let filter: StoreFilter
    private let limit: Int
    private var id: Int64
    private var found: [Found] = []

    init(stores: [CacheStoreName], filter: StoreFilter, place: CacheListPlace, limit: Int) {
        (self.stores, id) = place.rest(of: stores)
        self.filter = filter
        self.limit = limit
    }

    /// Passes on a page, and whether there is more.
    func run(in all: CacheStores, then: @escaping (_ found: [Found], _ hasMore: Bool) -> Void) {
        guard found.count <= limit, let store = stores.popFirst() else {
            return then(Array(found.prefix(limit)), found.count > limit)
        }
        // One more than the page has, to know whether there is more.
        all.list(store, filter, after: id, limit: limit + 1 - found.count) { [self] rows in
            for row in rows { found.append(Found(summary: row, place: CacheListPlace.text(store, row.id))) }
            id = 0
            run(in: all, then: then)
        }
    }
}
