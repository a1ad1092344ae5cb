internal import CarpoolHTTP

/// The trust stores in use, by the digests of their content: a file is parsed once, and files of the same content share
/// one store.
struct TrustStoreTable {
    /// The result of reading a file.
    typealias Reading = Result<TrustedAuthorities, TrustStore.Failure>

    private struct Weak {
        weak var store: TrustStore?
    }

    private var stores: [String: Weak] = [:]

    /// Those in use, for a job that reads another file.
    var known: [String: TrustStore] {
        mutating get {
            stores = stores.filter { $0.value.store != nil }
            return stores.compactMapValues(\.store)
        }
    }

    /// Notes a store that was read, unless there was another of the same content meanwhile, which is then used.
    mutating func adopt(_ reading: Reading) -> Reading {
        reading.map { read in
            if let known = stores[read.store.digest]?.store { return TrustedAuthorities(known, path: read.path) }
            stores[read.store.digest] = Weak(store: read.store)
            return read
        }
    }
}
