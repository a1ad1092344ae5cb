internal import CarpoolHTTP
internal import Synchronization

/// The authorities, revocation lists and pinned certificates of a user that are in use, by their content: the same
/// content is kept once. Used by threads of the worker.
final class KnownTrustMaterial: Sendable {
    private struct State {
        var stores = WeakTable<TrustStore>()
        var lists = WeakTable<CertificateRevocationLists>()
        var pins = WeakTable<CertificatePins>()
    }

    private let state = Mutex(State())

    /// The authorities in use with this digest.
    func store(_ digest: String) -> TrustStore? { state.withLock { $0.stores[digest] } }

    /// The revocation lists in use with this digest.
    func lists(_ digest: String) -> CertificateRevocationLists? { state.withLock { $0.lists[digest] } }

    /// The pins in use that are equal to these; these, if there are none.
    func shared(_ pins: CertificatePins) -> CertificatePins {
        let settings = "\(pins.acceptsSelfSigned) \(pins.performsDefaultValidation) \(pins.validatesHost) "
        let key = settings + pins.certificates.map(\.digest).joined()
        return state.withLock { state in
            if let known = state.pins[key] { return known }
            state.pins[key] = pins
            return pins
        }
    }

    /// Notes authorities that were parsed.
    func note(_ store: TrustStore) { state.withLock { $0.stores[store.digest] = store } }

    /// Notes revocation lists that were parsed.
    func note(_ lists: CertificateRevocationLists) { state.withLock { $0.lists[lists.digest] = lists } }
}

/// Objects by name, as long as others use them.
private struct WeakTable<Object: AnyObject> {
    private struct Weak {
        weak var object: Object?
    }

    private var objects: [String: Weak] = [:]
    /// The number of entries at which those without an object are removed.
    private var most = WeakTable.leastEntries

    private static var leastEntries: Int { 64 }

    subscript(name: String) -> Object? {
        get { objects[name]?.object }
        set {
            if objects.count >= most {
                objects = objects.filter { $0.value.object != nil }
                most = max(WeakTable.leastEntries, 2 &* objects.count)
            }
            objects[name] = newValue.map { Weak(object: $0) }
        }
    }
}
