internal import CarpoolHTTP
internal import CarpoolSystem

/// A key that is being read from the disk, and those who wait for it.
private final class KeyLoad {
    var waiting: [([CacheEntry]) -> Void]
    /// Whether something under the key has changed since the job was added.
    var isOutdated = false
    var isRepeated = false

    init(_ first: @escaping ([CacheEntry]) -> Void) { waiting = [first] }
}

/// The stored responses of one name: in memory, and on disk if its settings say so.
final class ResponseStore {
    let name: CacheStoreName
    private(set) var settings: CacheSettings
    /// Whether no session has used the store in this run, so that its settings are not known.
    private(set) var isProvisional: Bool
    /// Recognises credentials and other values of fields again: with the key of the disk also in a later run.
    var hash: KeyedHash { disk?.credentialHash ?? ownHash }
    private let ownHash = KeyedHash.random()
    let memory: MemoryStore
    let disk: DiskStore?
    private let ledger: MemoryLedger
    var counters = CacheCounters()
    /// The keys that are being read from the disk.
    private var loads: [CacheKey: KeyLoad] = [:]
    /// Whether the store was removed, so that nothing is stored in it any more.
    private(set) var isForgotten = false
    /// What was removed lately: a response that was asked for before is not stored afterwards.
    private(set) var removals = RemovalLog()
    /// The origins whose responses are being removed because they have asked for it.
    var clearing: Set<String> = []
    /// Receives what happens in the store.
    weak var observer: (any CacheObserver)?

    /// The most variants of a key (HK-05).
    static let maximumVariants = 16

    init(
        _ name: CacheStoreName, settings: CacheSettings, isProvisional: Bool, ledger: MemoryLedger, disk: DiskStore?
    ) {
        self.name = name
        self.settings = settings
        self.isProvisional = isProvisional
        self.ledger = ledger
        self.disk = disk
        memory = MemoryStore(user: name.user, ledger: ledger)
    }

    /// Takes the settings of the first session that uses it.
    func adopt(_ settings: CacheSettings) {
        self.settings = settings
        isProvisional = false
    }

    /// The most bytes of a body that is stored in memory.
    var maximumMemoryEntryBytes: Int { ledger.maximumEntryBytes }

    /// The most bytes of a body that is stored.
    var maximumEntryBytes: Int {
        let room = disk == nil ? ledger.maximumEntryBytes : max(ledger.maximumEntryBytes, settings.diskBytes / 20)
        return min(settings.maximumEntryBytes ?? room, room, DiskStore.maximumWaitingBytes)
    }

    /// Whether requests have to wait until the store on disk is open, because its key recognises their fields.
    var mustOpenFirst: Bool {
        disk?.isOpening ?? false
    }

    /// The hash of everything in a request that identifies its caller (HK-04); `nil` if there is nothing.
    func credentials(of request: TransportRequest, _ use: CacheUse) -> [UInt8]? {
        var secret: [UInt8] = []
        for field in request.fields where field.isNamed("authorization") || field.isNamed("cookie") {
            secret += Array(field.name.lowercased().utf8) + [0] + Array(field.value.utf8) + [0]
        }
        if let cookie = request.hopFields?.cookie { secret += Array("jar".utf8) + [0] + Array(cookie.value.utf8) + [0] }
        guard !secret.isEmpty || !use.values.credential.isEmpty else { return nil }
        return hash.bytes(of: secret + use.values.credential)
    }

    // MARK: Looking up

    /// The responses under a key, the newest first; `nil` if the disk has to be asked.
    func entries(under key: CacheKey) -> [CacheEntry]? {
        if let known = memory.entries(under: key) { return known }
        guard let disk, disk.mayHave(key) else { return [] }
        return nil
    }

    /// Passes on the responses under a key, from memory at once. All who ask for a key at the same time share one job.
    func load(_ key: CacheKey, then: @escaping ([CacheEntry]) -> Void) {
        if let known = entries(under: key) { return then(known) }
        if let load = loads[key] {
            load.waiting.append(then)
            return
        }
        let load = KeyLoad(then)
        loads[key] = load
        read(key, for: load)
    }

    private func read(_ key: CacheKey, for load: KeyLoad) {
        guard let disk else { return finish(load, of: key, with: []) }
        disk.load(key) { [self] loaded in
            if let known = memory.entries(under: key) { return finish(load, of: key, with: known) }
            // What was read is older than a change. Once more; then it is as if nothing were stored.
            guard !load.isOutdated else {
                guard !load.isRepeated else { return finish(load, of: key, with: []) }
                load.isOutdated = false
                load.isRepeated = true
                return read(key, for: load)
            }
            if !isForgotten { memory.set(loaded, under: key) }
            finish(load, of: key, with: loaded)
        }
    }

    /// There may be thousands who wait.
    private func finish(_ load: KeyLoad, of key: CacheKey, with loaded: [CacheEntry]) {
        loads[key] = nil
        let work = Slices.forEach(of: load.waiting) { [self] then in
            then(memory.entries(under: key) ?? (load.isOutdated ? [] : loaded))
        }
        if work.runSlice(), let loop = disk?.loop { loop.runInSlices(work) }
    }

    /// Something under a key has changed: what is being read may be older.
    private func didChange(_ key: CacheKey) { loads[key]?.isOutdated = true }

    // MARK: Storing

    /// Stores a complete response in place of older ones.
    /// - Parameter replaced: chooses those that it replaces of what is stored now.
    func store(
        _ entry: CacheEntry, onDisk: Bool, ttlMilliseconds: Int?,
        replacing replaced: @escaping ([CacheEntry]) -> [CacheEntry]
    ) {
        let start = removals.last
        // What cannot be read now would come back later.
        if let disk, memory.records[entry.key] == nil, !disk.wake() || !disk.hasRoom {
            disk.removeAll(under: entry.key)
        }
        load(entry.key) { [self] entries in
            guard !removals.concerns(entry.key.url, since: start), !isForgotten else { return }
            didChange(entry.key)
            insert(entry, onDisk: onDisk, among: entries, replacing: replaced(entries))
            guard entry.isOnDisk || memory.records[entry.key] != nil else { return }
            counters.stored += 1
            report(
                .stored(
                    url: entry.key.url, status: entry.response.status, bytes: entry.body.count,
                    ttlMilliseconds: ttlMilliseconds, storage: entry.isOnDisk ? .disk : .memory))
        }
    }

    /// Reports what has happened.
    func report(_ event: @autoclosure () -> CacheEvent) { observer?.store(name, did: event()) }

    private func insert(
        _ entry: CacheEntry, onDisk: Bool, among entries: [CacheEntry], replacing replaced: [CacheEntry]
    ) {
        var kept = entries.filter { old in !replaced.contains { $0 === old } }
        var removed = replaced
        // The oldest of those that were used at the same time.
        while kept.count >= ResponseStore.maximumVariants,
            let least = kept.reversed().min(by: { $0.isLessUsed(than: $1) })
        {
            kept.removeAll { $0 === least }
            removed.append(least)
        }
        discard(removed)
        let isTooLarge = entry.body.count > ledger.maximumEntryBytes
        if onDisk, let disk { save(entry, in: disk) }
        guard !isTooLarge || entry.isOnDisk else { return memory.set(kept, under: entry.key) }
        // The next look-up loads it from the disk, as a file: it is too large for memory.
        memory.set(isTooLarge ? [] : [entry] + kept, under: entry.key)
    }

    private func save(_ entry: CacheEntry, in disk: DiskStore) {
        guard case .memory(let bytes) = entry.body else { return }
        let isTooLarge = bytes.count > ledger.maximumEntryBytes
        let isAdded = disk.save(entry, body: bytes, usableUntil: usableUntil(entry)) { [weak self] saved in
            entry.savedFile = saved?.file
            guard saved == nil else { return }
            self?.counters.writeFailures += 1
            // Nothing else has it.
            if isTooLarge { self?.forgetInMemory([entry], under: entry.key) }
        }
        if !isAdded { counters.writeFailures += 1 }
    }

    /// Replaces the head of a stored response after a 304, a response to HEAD or an invalidation.
    /// - Parameter wasInvalidated: whether it was invalid when the validation began: one that has become invalid since
    ///   stays so.
    func update(_ known: CacheEntry, _ response: CachedResponse, wasInvalidated: Bool = true) {
        // A record that was evicted and loaded again has other objects.
        let entry = memory.entries(under: known.key)?.first { $0.id == known.id } ?? known
        didChange(entry.key)
        var response = response
        if entry.response.isInvalidated, !wasInvalidated { response.isInvalidated = true }
        response.bodyBytes = entry.body.count
        entry.response = response
        known.response = response
        memory.recount(entry.key)
        if entry.isOnDisk { disk?.replaceHead(of: entry, usableUntil: usableUntil(entry)) }
    }

    private func usableUntil(_ entry: CacheEntry) -> Int64? {
        CachePolicy(settings: settings).usableUntil(entry.response, url: entry.key.url)
    }

    /// Removes responses.
    func remove(_ removed: [CacheEntry], under key: CacheKey) {
        guard !removed.isEmpty else { return }
        discard(removed)
        forgetInMemory(removed, under: key)
    }

    /// Removes responses from memory alone.
    func forgetInMemory(_ removed: [CacheEntry], under key: CacheKey) {
        didChange(key)
        guard let known = memory.entries(under: key) else { return }
        // By number: a record that was evicted and loaded again has other objects.
        memory.set(known.filter { entry in !removed.contains { $0.id == entry.id } }, under: key)
    }

    private func discard(_ removed: [CacheEntry]) {
        let ids = removed.filter(\.isOnDisk).map(\.id)
        if !ids.isEmpty { disk?.remove(ids) }
    }

    /// Counts that a response was served.
    func use(_ entry: CacheEntry, at now: CacheTime, outcome: CacheOutcome, bytes: Int) {
        entry.hits += 1
        entry.lastUse = now
        counters.count(outcome)
        counters.savedBytes &+= Int64(bytes)
        if entry.isOnDisk { disk?.touch(entry) }
    }

    /// Takes note of what the disk reports.
    func didReport(_ event: DiskStoreEvent, _ evictions: EvictionReports) {
        switch event {
        case .failed(let message): report(.writeFailed(message: message, code: nil))
        case .indexReplaced(let reason): report(.writeFailed(message: "the index was replaced: \(reason)", code: nil))
        case .damaged(let count): counters.corrupt += count
        case .evicted(let count):
            counters.evicted += count
            evictions.add(count, 0, of: self)
        }
    }

    // MARK: Invalidating

    /// Makes all responses for a URL unusable without validation (HI-01).
    func invalidate(_ key: CacheKey) {
        var filter = StoreFilter()
        filter.url = key.url
        removals.note(filter, isPurge: false)
        didChange(key)
        // Also if it cannot be read now.
        disk?.invalidateAll(under: key)
        load(key) { [self] entries in
            for entry in entries where !entry.response.isInvalidated {
                var response = entry.response
                response.isInvalidated = true
                update(entry, response)
            }
            guard !entries.isEmpty else { return }
            counters.invalidated += entries.count
            report(.invalidated(url: key.url, count: entries.count, cause: .method))
        }
    }

    /// Reports a purge.
    func didPurge(_ count: Int, _ cause: CacheEvent.Cause) {
        guard count > 0 else { return }
        counters.invalidated += count
        report(.invalidated(url: nil, count: count, cause: cause))
    }

    /// Notes that responses of fetches under way must not be stored if a filter names them.
    func beginPurge(_ filter: StoreFilter) {
        removals.note(filter, isPurge: true)
        for load in loads.values { load.isOutdated = true }
    }

    /// Stores nothing any more. What is in memory is removed by the caller.
    func forget() {
        beginPurge(StoreFilter())
        isForgotten = true
    }
}

extension CacheEntry {
    /// Whether it is removed before another one.
    fileprivate func isLessUsed(than other: CacheEntry) -> Bool { lastUse.milliseconds(since: other.lastUse) < 0 }
}
