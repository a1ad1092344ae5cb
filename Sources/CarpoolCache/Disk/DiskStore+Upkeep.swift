internal import CarpoolSystem

/// What the store does by itself: uses of entries, eviction, and the search for files without a row.
extension DiskStore {
    /// How long uses of entries wait to be written if nothing else is.
    private static let touchMilliseconds = 10_000
    /// The files that are swept in a second.
    private static let sweptFilesPerSecond = 1_000

    /// Notes that an entry was used, in its row at most once a minute.
    func touch(_ entry: CacheEntry) {
        guard state == .ready else { return }
        uses.note(DiskUse(id: entry.id, time: entry.lastUse.wall, hits: entry.hits), at: loop.now)
        if !uses.isEmpty, !touchTimer.isArmed { loop.arm(touchTimer, afterMilliseconds: DiskStore.touchMilliseconds) }
    }

    /// Writes the uses that wait.
    func writeUses() {
        guard !uses.isEmpty else { return }
        loop.cancel(touchTimer)
        let list = uses.take()
        guard state == .ready, hasRoom else { return }
        run({ $0.touch(list) }, then: { _ in })
    }

    /// Removes entries while there are too many bytes, in steps: those that are of no use first, then those that were
    /// used the longest time ago.
    func evictIfFull() {
        guard state == .ready, !isEvicting, totals.bytes > maximumBytes else { return }
        isEvicting = true
        // A little more than necessary, so that not every entry evicts one.
        let excess = totals.bytes - maximumBytes + maximumBytes / 32
        run({ $0.evict(excess: excess, at: WallClock.microseconds() / 1_000) }) { [self] result in
            isEvicting = false
            guard case .success(let count) = result, count > 0 else { return }
            counters.evicted += count
            onEvent(.evicted(count))
            evictIfFull()
        }
    }

    /// Sweeps the next folder of body files, and then those after it at a bounded speed.
    func sweepNext() {
        guard state == .ready, sweepFolder < 256 else { return }
        let number = sweepFolder
        sweepFolder += 1
        run({ $0.sweep(folder: number) }) { [self] result in
            guard state == .ready, case .success(let files) = result else { return }
            loop.arm(sweepTimer, afterMilliseconds: files * 1_000 / DiskStore.sweptFilesPerSecond)
        }
    }

    /// Counts entries that were removed because they were damaged.
    func countDamaged(_ count: Int) {
        counters.damaged += count
        onEvent(.damaged(count))
    }
}
