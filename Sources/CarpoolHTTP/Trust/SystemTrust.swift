internal import CarpoolSystem

/// The system's certificate authorities, parsed by a thread of a worker when they are first needed, and again when
/// their file has changed.
final class SystemTrust {
    private let path: String
    private let worker: Worker
    /// The current store; `nil` until it was read, or if it cannot be: then libcurl is given the path, and reports
    /// the error.
    private var store: TrustStore?
    /// The stores of the system's authorities and a caller's, by the digest of the caller's; kept as long as the
    /// caller's are in use.
    private var joined: [String: Joined] = [:]
    private var joining: Set<String> = []
    private var isReading = false
    private var readAt: MonotonicTime?
    /// Whether the last reading failed for a shortage, which passes.
    private var isShort = false
    private var waiting: [() -> Void] = []

    /// The time for which a store is used before its file is checked again.
    private let freshMilliseconds: Int
    /// The time after a reading that has failed for a shortage.
    private static let shortMilliseconds = 1_000

    init(path: String, worker: Worker, freshMilliseconds: Int = 600_000) {
        self.path = path
        self.worker = worker
        self.freshMilliseconds = freshMilliseconds
    }

    private struct Joined {
        weak var authorities: TrustedAuthorities?
        let system: TrustStore
        let store: TrustStore
    }

    /// The store of authorities that are loaded; `nil` if those of the system cannot be read.
    func store(for authorities: ServerTrust.Authorities) -> TrustStore? {
        switch authorities {
        case .system: store
        case .only(let own): own.store
        case .systemAnd(let own): joined[own.store.digest]?.store ?? own.store
        }
    }

    /// Whether authorities are loaded.
    func isReady(for authorities: ServerTrust.Authorities) -> Bool {
        switch authorities {
        case .system: isReady()
        case .only: true
        case .systemAnd(let own): isReady() && (store == nil || joined[own.store.digest]?.system === store)
        }
    }

    /// Whether the system's authorities are loaded. Checks the file again from time to time.
    private func isReady() -> Bool {
        guard let readAt else { return false }
        let fresh = isShort ? SystemTrust.shortMilliseconds : freshMilliseconds
        if readAt.advanced(milliseconds: fresh) <= worker.now { read() }
        return true
    }

    /// Calls the block when more is loaded: then ``isReady(for:)`` answers again.
    func wait(for authorities: ServerTrust.Authorities, _ block: @escaping () -> Void) {
        waiting.append(block)
        guard case .systemAnd(let own) = authorities, readAt != nil, let store else { return read() }
        join(own, to: store)
    }

    private func join(_ own: TrustedAuthorities, to system: TrustStore) {
        let key = own.store.digest
        guard joining.insert(key).inserted else { return }
        worker.runAlways(for: .process) {
            TrustStore(system, and: own.store)
        } then: { [weak self] store in
            guard let self else { return }
            joining.remove(key)
            joined = joined.filter { $0.value.authorities != nil }
            // Without memory for both, the caller's alone.
            joined[key] = Joined(authorities: own, system: system, store: store ?? own.store)
            resume()
        }
    }

    private func read() {
        guard !isReading else { return }
        isReading = true
        let (path, known) = (path, store.map { [$0.digest: $0] } ?? [:])
        worker.runAlways(for: .process) {
            let shortages = Shortage.count
            let store = try? TrustStore.read(path, known: known)
            return (store, isShort: store == nil && Shortage.count != shortages)
        } then: { [weak self] result in
            self?.didRead(result.0, isShort: result.isShort)
        }
    }

    private func didRead(_ store: TrustStore?, isShort: Bool) {
        isReading = false
        self.isShort = isShort
        readAt = worker.now
        // The previous store is kept while the file is missing, such as while a package is being installed.
        self.store = store ?? self.store
        resume()
    }

    private func resume() {
        let waiting = waiting
        self.waiting = []
        for block in waiting { block() }
    }
}
