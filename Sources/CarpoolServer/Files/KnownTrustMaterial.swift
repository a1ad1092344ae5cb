internal import CarpoolHTTP
internal import Synchronization

/// The authorities, revocation lists and pinned certificates of a user that are in use, by their content: the same
/// content is kept once. Used by threads of the worker; the loop looks in it unless one of them does so.
final class KnownTrustMaterial: Sendable {
    private struct State {
        var stores = WeakTable<TrustStore>()
        var lists = WeakTable<CertificateRevocationLists>()
        var pins = WeakTable<CertificatePins>()
        /// The stores that were used last, which are kept: a program that is called again and again names the same
        /// file, and to parse the list of the system's authorities takes 45 ms.
        var latest: [TrustStore] = []
    }

    /// A store of 140 authorities takes about a megabyte.
    private static let keptStores = 2

    /// The longest text whose digest is computed on the loop, in some 50 us.
    private static let maximumShortBytes = 65_536

    private let state = Mutex(State())

    /// The authorities in use with this digest, or used lately.
    func store(_ digest: String) -> TrustStore? { state.withLock { store(digest, &$0) } }

    private func store(_ digest: String, _ state: inout State) -> TrustStore? {
        guard let store = state.stores[digest] else { return nil }
        keep(store, &state)
        return store
    }

    /// The authorities of a short text that are in use, or were used lately; `nil` if a thread has to parse them, or to
    /// look for them because another one does so now. Never waits.
    func authorities(_ names: TrustMaterialNames) -> TrustMaterial? {
        guard case .authorities = names.kind, names.sources.count == 1,
            case .text(let text)? = names.sources.first?.content,
            text.count <= KnownTrustMaterial.maximumShortBytes,
            let store = TrustStore.known(
                pem: text, among: { digest in state.withLockIfAvailable { store(digest, &$0) } ?? nil })
        else { return nil }
        return .authorities(TrustedAuthorities(store, path: ""))
    }

    private func keep(_ store: TrustStore, _ state: inout State) {
        guard state.latest.last !== store else { return }
        state.latest.removeAll { $0 === store }
        state.latest.append(store)
        if state.latest.count > KnownTrustMaterial.keptStores { state.latest.removeFirst() }
    }

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
    func note(_ store: TrustStore) {
        state.withLock { state in
            state.stores[store.digest] = store
            keep(store, &state)
        }
    }

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
