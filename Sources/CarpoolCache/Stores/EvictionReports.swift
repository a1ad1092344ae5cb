internal import CarpoolSystem

/// Sums what was removed to make room, and reports it at most once a second for a store.
final class EvictionReports {
    private var sums: [ObjectIdentifier: (store: ResponseStore, count: Int, bytes: Int)] = [:]
    private let loop: EventLoop
    private var timer: Timer?

    /// The time between two reports.
    private static let milliseconds = 1_000

    init(loop: EventLoop) { self.loop = loop }

    deinit {
        if let timer { loop.cancel(timer) }
    }

    func add(_ count: Int, _ bytes: Int, of store: ResponseStore) {
        let known = sums[ObjectIdentifier(store)] ?? (store, 0, 0)
        sums[ObjectIdentifier(store)] = (store, known.count &+ count, known.bytes &+ bytes)
        guard timer == nil else { return }
        let timer = Timer { [unowned self] in report() }
        self.timer = timer
        loop.arm(timer, afterMilliseconds: EvictionReports.milliseconds)
    }

    private func report() {
        timer = nil
        for (store, count, bytes) in sums.values { store.report(.evicted(count: count, bytes: bytes)) }
        sums = [:]
    }
}
