internal import CarpoolSystem

/// The system's certificate authorities, parsed by a thread of a worker when they are first needed, and again when
/// their file has changed.
final class SystemTrust {
    private let path: String
    private let worker: Worker
    /// The current store; `nil` until it was read, or if it cannot be: then libcurl is given the path, and reports
    /// the error.
    private(set) var store: TrustStore?
    private var isReading = false
    private var readAt: MonotonicTime?
    private var waiting: [() -> Void] = []

    /// The time for which a store is used before its file is checked again.
    private static let freshMilliseconds = 600_000

    init(path: String, worker: Worker) {
        self.path = path
        self.worker = worker
    }

    /// Whether the authorities are loaded. Checks the file again from time to time.
    func isReady() -> Bool {
        guard let readAt else { return false }
        if readAt.advanced(milliseconds: SystemTrust.freshMilliseconds) <= worker.now { read() }
        return true
    }

    /// Calls the block when the authorities are loaded, if they are not yet.
    func wait(_ block: @escaping () -> Void) {
        waiting.append(block)
        read()
    }

    private func read() {
        guard !isReading else { return }
        isReading = true
        let (path, known) = (path, store.map { [$0.digest: $0] } ?? [:])
        worker.runAlways(for: .process) {
            try? TrustStore.read(path, known: known)
        } then: { [weak self] store in
            self?.didRead(store)
        }
    }

    private func didRead(_ store: TrustStore?) {
        isReading = false
        readAt = worker.now
        // The previous store is kept while the file is missing, such as while a package is being installed.
        self.store = store ?? self.store
        let waiting = waiting
        self.waiting = []
        for block in waiting { block() }
    }
}
