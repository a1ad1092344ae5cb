/// Pauses between background validations of a key that fail: 1, 2, 4 ... 60 seconds (HV-09).
struct ValidationBackoffs {
    private struct Pause {
        var milliseconds: Int64
        var end: Int64
    }

    private var pauses: [StoreKey: Pause] = [:]

    /// The most keys; beyond that all are forgotten.
    static let maximumKeys = 1_024

    /// Whether a validation may begin.
    func allows(_ key: StoreKey, at now: CacheTime) -> Bool {
        guard !pauses.isEmpty, let pause = pauses[key] else { return true }
        return pause.end <= now.uptime ?? now.wall
    }

    /// A validation has failed.
    mutating func failed(_ key: StoreKey, at now: CacheTime) {
        if pauses.count >= ValidationBackoffs.maximumKeys { pauses.removeAll(keepingCapacity: true) }
        let milliseconds = min(60_000, pauses[key].map { $0.milliseconds &* 2 } ?? 1_000)
        pauses[key] = Pause(milliseconds: milliseconds, end: (now.uptime ?? now.wall) &+ milliseconds)
    }

    /// A validation has succeeded.
    mutating func succeeded(_ key: StoreKey) {
        if !pauses.isEmpty { pauses[key] = nil }
    }
}
