internal import CarpoolHTTP
internal import CarpoolSystem

/// The responses of one store on disk. Used on the loop; everything that touches the disk is a job of the worker, in
/// the order of the calls, so that a look-up sees what was saved before.
///
/// A failure turns the store off for a while: then nothing is found and nothing is saved, and requests go on. Removals
/// are never refused: those that cannot be written are done when the store is open again, before it is used.
final class DiskStore {
    /// The most jobs that wait; with more, nothing is saved or found.
    static let maximumJobs = 1_024
    /// The most bytes of bodies that wait to be written.
    static let maximumWaitingBytes = 33_554_432
    /// The delay of a commit.
    private static let commitMilliseconds = 50
    /// How long a ``Shortage`` turns it off.
    private static let shortMilliseconds = 2_000

    private(set) var state = DiskStoreState.idle
    private(set) var totals = DiskTotals()
    var counters = DiskStoreCounters()
    /// Recognises credentials of this run and of earlier ones; `nil` until the store is open, and if its key cannot be
    /// used. Without it, entries with credentials are not saved.
    private(set) var credentialHash: KeyedHash?
    /// The most bytes of all entries.
    var maximumBytes: Int { didSet { evictIfFull() } }

    let loop: EventLoop
    let work: WorkerAccess
    let vault: DiskVault
    let verified = VerifiedBodies()
    var files = BodyFiles(folder: "")
    private let queue: WorkerQueue
    private let offMilliseconds: Int
    let onEvent: (DiskStoreEvent) -> Void

    private var hashes = KeyHashSet()
    /// Whether ``hashes`` has all keys.
    private var knowsKeys = false
    /// The keys of entries whose jobs wait.
    private var pendingSaves: [UInt64: Int] = [:]
    private var waitingJobs = 0
    private var waitingBytes = 0
    private var waitsForOpening: [() -> Void] = []
    /// Removals that a failure has left.
    private(set) var owed: [DiskRemoval] = []
    /// When the store may be opened again.
    private var retryTime: MonotonicTime?
    private var lastReplacement: MonotonicTime?
    private var lastReport: MonotonicTime?
    var isEvicting = false
    var uses = DiskUses()
    private lazy var commitTimer = Timer { [weak self] in self?.commit() }
    private(set) lazy var touchTimer = Timer { [weak self] in self?.writeUses() }
    private(set) lazy var sweepTimer = Timer { [weak self] in self?.sweepNext() }
    /// The folder of body files that is swept next.
    var sweepFolder = 0

    /// Makes a store that is not open.
    /// - Parameters:
    ///   - folder: is made if it is missing.
    ///   - offMilliseconds: how long a failure turns it off.
    init(
        folder: String, maximumBytes: Int, loop: EventLoop, work: WorkerAccess, offMilliseconds: Int = 60_000,
        onEvent: @escaping (DiskStoreEvent) -> Void
    ) {
        self.maximumBytes = maximumBytes
        self.loop = loop
        self.work = work
        self.offMilliseconds = offMilliseconds
        self.onEvent = onEvent
        vault = DiskVault(folder: folder)
        queue = WorkerQueue(worker: work.worker, share: work.share, limit: .max)
    }

    deinit {
        loop.cancel(commitTimer)
        loop.cancel(touchTimer)
        loop.cancel(sweepTimer)
        let (vault, removes) = (vault, !owed.isEmpty && state != .inUse)
        if state != .closed, state != .idle { queue.runLast({ vault.close(removes: removes) }, then: {}) }
    }

    // MARK: Jobs

    /// Whether one more job that may be refused can wait.
    var hasRoom: Bool { waitingJobs < DiskStore.maximumJobs }

    /// Adds a job after all others.
    func run<Value: Sendable>(
        _ job: @escaping @Sendable (DiskVault) -> DiskReport<Value>,
        then: @escaping (Result<Value, DiskError>) -> Void
    ) {
        waitingJobs += 1
        queue.runLast({ [vault] in job(vault) }) { [self] report in
            waitingJobs -= 1
            digest(report)
            then(report.result)
        }
    }

    private func digest<Value>(_ report: DiskReport<Value>) {
        if let new = report.totals { totals = new }
        for hash in report.gone where pendingSaves[hash] == nil { hashes.remove(hash) }
        if case .failure(let error) = report.result, error.kind != .closed { turnOff(because: error) }
        for removal in report.lost { owe(removal) }
        guard state == .ready else { return }
        if report.hasOpenTransaction, !commitTimer.isArmed {
            loop.arm(commitTimer, afterMilliseconds: DiskStore.commitMilliseconds)
        }
        evictIfFull()
    }

    private func commit() {
        run({ $0.commit() }, then: { _ in })
    }

    // MARK: Opening

    /// Opens the store in the background.
    func open() {
        guard state == .idle else { return }
        beginOpening()
    }

    /// Whether it will be open soon.
    var isOpening: Bool { state == .opening || state == .idle }

    /// Calls back when the opening has ended, with or without success; at once if it has.
    func whenOpen(_ then: @escaping () -> Void) {
        guard isOpening else { return then() }
        waitsForOpening.append(then)
    }

    /// Whether the store takes jobs; begins to open it again if it was off for long enough.
    func wake() -> Bool {
        if let retryTime, MonotonicTime.read() >= retryTime { beginOpening() }
        return state == .opening || state == .ready
    }

    private func beginOpening() {
        state = .opening
        retryTime = nil
        run({ $0.open() }) { [self] result in
            guard state == .opening else { return callWaiting() }
            if case .success(let opened) = result { begin(with: opened) }
            callWaiting()
        }
        let left = owed
        owed = []
        for removal in left { remove(removal) }
    }

    private func begin(with opened: DiskVault.Opened) {
        files = opened.files
        if let key = opened.key { credentialHash = KeyedHash(key: key) }
        if let list = opened.hashes {
            hashes = KeyHashSet(list)
            for hash in pendingSaves.keys { hashes.insert(hash) }
            knowsKeys = true
        }
        state = .ready
        if let reason = opened.replacedBecause { onEvent(.indexReplaced(reason)) }
        sweepFolder = 0
        loop.arm(sweepTimer, afterMilliseconds: 0)
        evictIfFull()
    }

    private func callWaiting() {
        let work = Slices.forEach(of: waitsForOpening) { $0() }
        waitsForOpening = []
        if work.runSlice() { loop.runInSlices(work) }
    }

    private func turnOff(because error: DiskError) {
        guard state == .ready || state == .opening else { return }
        loop.cancel(commitTimer)
        loop.cancel(sweepTimer)
        let now = MonotonicTime.read()
        if error.kind == .corrupt || error.kind == .folderLost { knowsKeys = false }
        if error.kind == .corrupt, lastReplacement.map({ $0.advanced(milliseconds: offMilliseconds) <= now }) ?? true {
            // The vault has set the index aside.
            lastReplacement = now
            onEvent(.indexReplaced(error.description))
            return beginOpening()
        }
        state = error.kind == .inUse ? .inUse : .off(error.description)
        let milliseconds = error.isShortage ? min(offMilliseconds, DiskStore.shortMilliseconds) : offMilliseconds
        retryTime = now.advanced(milliseconds: milliseconds)
        guard error.kind != .inUse, lastReport.map({ $0.advanced(milliseconds: 60_000) <= now }) ?? true else { return }
        lastReport = now
        onEvent(.failed(error.description))
    }

    /// Commits what was saved and closes the index. The store cannot be used afterwards.
    func close(then: @escaping () -> Void) {
        guard state != .closed, state != .idle else {
            state = .closed
            callWaiting()
            return then()
        }
        writeUses()
        let isForeign = state == .inUse
        state = .closed
        retryTime = nil
        loop.cancel(commitTimer)
        loop.cancel(touchTimer)
        loop.cancel(sweepTimer)
        // A job that fails before this one may add to what is owed.
        run({ $0.commit() }) { [self] _ in
            let removes = !owed.isEmpty && !isForeign
            queue.runLast({ [vault] in vault.close(removes: removes) }, then: then)
        }
    }
}

// MARK: Entries

extension DiskStore {
    /// Whether there may be responses under a key; no disk is asked. Without an answer yet, there may be.
    func mayHave(_ key: CacheKey) -> Bool {
        guard wake(), let key = key.diskIdentity else { return false }
        return mayHave(key)
    }

    private func mayHave(_ key: DiskKey) -> Bool {
        !knowsKeys || pendingSaves[key.hash] != nil || hashes.contains(key.hash)
    }

    /// Passes on all variants under a key, the newest first: heads, and bodies that are small. None, and at once, if
    /// the store is off or too many jobs wait.
    func load(_ key: CacheKey, then: @escaping ([CacheEntry]) -> Void) {
        guard wake(), hasRoom, let identity = key.diskIdentity, mayHave(identity) else { return then([]) }
        counters.loads += 1
        run({ $0.load(identity, url: key.url) }) { [self] result in
            guard case .success(let found) = result else { return then([]) }
            if found.damaged > 0 { countDamaged(found.damaged) }
            then(found.rows.map { CacheEntry($0, key: key) })
        }
    }

    /// Saves an entry with its body, in place of the variant of its key that is for the same requests.
    /// - Parameters:
    ///   - usableUntil: the time in milliseconds since 1970 after which it is of no use, even for validation; `nil` if
    ///     that never comes.
    ///   - then: called with what was written; `nil` if nothing was.
    /// - Returns: whether a job was added; otherwise `then` is not called.
    @discardableResult
    func save(
        _ entry: CacheEntry, body: [UInt8], usableUntil: Int64? = nil, then: @escaping (DiskSaved?) -> Void = { _ in }
    ) -> Bool {
        guard wake(), let key = entry.key.diskIdentity, body.count <= maximumBytes else { return false }
        guard hasRoom, waitingBytes + body.count <= DiskStore.maximumWaitingBytes else {
            counters.refused += 1
            return false
        }
        entry.isOnDisk = true
        waitingBytes += body.count
        pendingSaves[key.hash, default: 0] += 1
        writeUses()
        let row = DiskRow(entry, key: key, usableUntil: usableUntil)
        run({ $0.save(row, body: body) }) { [self] result in
            waitingBytes -= body.count
            let count = (pendingSaves[key.hash] ?? 1) - 1
            pendingSaves[key.hash] = count > 0 ? count : nil
            let saved: DiskSaved? = if case .success(let saved) = result { saved } else { nil }
            if saved == nil {
                entry.isOnDisk = false
                counters.failed += 1
            } else {
                counters.saved += 1
                hashes.insert(key.hash)
            }
            then(saved)
        }
        return true
    }

    /// Replaces the head of an entry on disk by the one that it has now.
    func replaceHead(of entry: CacheEntry, usableUntil: Int64? = nil) {
        guard let key = entry.key.diskIdentity else { return }
        let (id, response) = (entry.id, entry.response)
        guard wake() else {
            // The old head must not be used in place of the new one.
            entry.isOnDisk = false
            return remove([id])
        }
        run({ $0.replaceHead(id: id, key: key, response: response, usableUntil: usableUntil) }) { [self] result in
            guard case .failure = result else { return }
            entry.isOnDisk = false
            remove([id])
        }
    }

    /// Removes entries by their numbers.
    func remove(_ ids: [Int64]) {
        guard !ids.isEmpty else { return }
        remove(DiskRemoval(filter: .ids(ids), isSoft: false))
    }

    /// Removes all variants under a key, whether they are in memory or not.
    func removeAll(under key: CacheKey) { remove(key, isSoft: false) }

    /// Marks all variants under a key as not usable without validation, whether they are in memory or not.
    func invalidateAll(under key: CacheKey) { remove(key, isSoft: true) }

    private func remove(_ key: CacheKey, isSoft: Bool) {
        guard let identity = key.diskIdentity, mayHave(identity) else { return }
        remove(DiskRemoval(filter: .key(identity), isSoft: isSoft))
    }

    private func remove(_ removal: DiskRemoval) { purge(removal.filter, isSoft: removal.isSoft) { _ in } }

    /// Removes or marks the entries that a filter names, in steps.
    /// - Parameter then: called with their number; `nil` if the disk cannot be written now: then it is done when it
    ///   can be, before an entry is used again.
    func purge(_ filter: DiskFilter, isSoft: Bool = false, then: @escaping (Int?) -> Void) {
        let removal = DiskRemoval(filter: filter, isSoft: isSoft)
        guard state != .closed else { return then(0) }
        // An earlier store of the name still closes the folder.
        guard state != .idle else { return whenOpen { [self] in purge(filter, isSoft: isSoft, then: then) } }
        guard wake() else {
            owe(removal)
            return then(nil)
        }
        purge(removal, after: 0, count: 0, then: then)
    }

    private func purge(_ removal: DiskRemoval, after id: Int64, count: Int, then: @escaping (Int?) -> Void) {
        run({ $0.remove(removal, after: id, limit: 256) }) { [self] result in
            switch result {
            case .success((let step, let next?)): purge(removal, after: next, count: count + step, then: then)
            case .success((let step, nil)): then(count + step)
            case .failure:
                owe(removal)
                then(nil)
            }
        }
    }

    /// Notes a removal that has to be done again.
    private func owe(_ removal: DiskRemoval) {
        if owed.contains(removal) { return }
        // Rather nothing than too much to remember.
        if owed.count >= DiskStore.maximumJobs { owed = [DiskRemoval(filter: .all, isSoft: false)] }
        owed.append(removal)
        guard state == .ready || state == .opening else { return }
        let left = owed
        owed = []
        for removal in left { remove(removal) }
    }

    /// Passes on the rows that a filter names, by their numbers, after one of them; none if the store is off.
    func list(
        _ filter: DiskFilter, after id: Int64 = 0, limit: Int, then: @escaping ([DiskListRow]) -> Void
    ) {
        guard wake(), hasRoom else { return then([]) }
        run({ $0.list(filter, after: id, limit: limit) }) { result in
            if case .success(let rows) = result { then(rows) } else { then([]) }
        }
    }
}
