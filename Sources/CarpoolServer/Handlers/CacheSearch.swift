internal import CarpoolCache
internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC

/// The place in a list of stored responses: the last one of the page before.
struct CacheListPlace {
    /// The place of its store among those of the list.
    var store = 0
    /// Its number.
    var id: Int64 = 0

    /// The place that `next` names; the beginning without it.
    init(_ call: Call, among count: Int) throws(RPCError) {
        guard let next = call.params["next"]?.string else { return }
        let parts = next.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let store = Int(parts[0]), let id = Int64(parts[1], radix: 16), id >= 0,
            (0...count).contains(store)
        else {
            throw .invalidParams(
                path: "params.next", message: "not the `next` of a page: \(next.prefix(64).debugDescription)",
                expected: "`next` of the last page, as it was")
        }
        (self.store, self.id) = (store, id)
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

    private let stores: [CacheStoreName]
    private let filter: StoreFilter
    private let limit: Int
    private var place: CacheListPlace
    private var found: [Found] = []

    init(stores: [CacheStoreName], filter: StoreFilter, place: CacheListPlace, limit: Int) {
        self.stores = stores
        self.filter = filter
        self.place = place
        self.limit = limit
    }

    /// Passes on a page, and whether there is more.
    func run(in all: CacheStores, then: @escaping (_ found: [Found], _ hasMore: Bool) -> Void) {
        guard place.store < stores.count, found.count <= limit else {
            return then(Array(found.prefix(limit)), found.count > limit)
        }
        // One more than the page has, to know whether there is more.
        all.list(stores[place.store], filter, after: place.id, limit: limit + 1 - found.count) { [self] rows in
            for row in rows {
                found.append(Found(summary: row, place: "\(place.store).\(String(row.id, radix: 16))"))
            }
            place.store += 1
            place.id = 0
            run(in: all, then: then)
        }
    }
}
