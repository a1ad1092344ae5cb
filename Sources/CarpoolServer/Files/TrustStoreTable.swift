internal import CarpoolHTTP
internal import CarpoolRPC

/// The trust stores in use, by the digests of their content: a file is parsed once, and files of the same content share
/// one store.
struct TrustStoreTable {
    /// The result of reading a file.
    typealias Reading = Result<TrustMaterial, RPCError>

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
        reading.map { material in
            guard case .authorities(let read) = material else { return material }
            if let known = stores[read.store.digest]?.store {
                return .authorities(TrustedAuthorities(known, path: read.path))
            }
            stores[read.store.digest] = Weak(store: read.store)
            return material
        }
    }
}
