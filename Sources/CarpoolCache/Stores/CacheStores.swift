public import CarpoolHTTP
public import CarpoolSystem

/// All stores of a process, by name. A store is made when a request first uses it.
public final class CacheStores {
    /// Where stores are on disk.
    public struct Place {
        let worker: Worker
        let maximumBytes: Int
        let directory: String
        let folderName: (CacheStoreName) -> String
        let storeName: (String) -> CacheStoreName?

        /// Makes a place.
        /// - Parameters:
        ///   - worker: reads and writes the files.
        ///   - maximumBytes: the most bytes of all stores.
        ///   - directory: has a folder for each store; it is made if it is missing.
        ///   - folderName: the name of the folder of a store. It begins with the user's, and a dot.
        ///   - storeName: the store whose folder has a name; `nil` if it is no store's.
        public init(
            worker: Worker, maximumBytes: Int, directory: String, folderName: @escaping (CacheStoreName) -> String,
            storeName: @escaping (String) -> CacheStoreName?
        ) {
            self.worker = worker
            self.maximumBytes = maximumBytes
            self.directory = directory
            self.folderName = folderName
            self.storeName = storeName
        }
    }

    private var stores: [CacheStoreName: ResponseStore] = [:]
    /// The store of the requests that came last.
    private var last: (use: CacheUse, store: ResponseStore)?
    private let ledger: MemoryLedger
    private let evictions: EvictionReports
    /// The loop that they belong to.
    public let loop: EventLoop
    let place: Place?
    /// Whether stores that no session uses will be looked at.
    var isTrimming = false
    /// Whether they will be looked at once more.
    var trimsAgain = false
    /// Closes those that were opened to be listed or purged.
    private(set) lazy var provisionalTimer = Timer { [weak self] in self?.endProvisional() }
    /// How many earlier stores of a name still close their folder, or are removed.
    private var closing: [CacheStoreName: Int] = [:]
    /// Stores whose responses are removed when an earlier one of the name has closed its folder.
    private var removesWhenClosed: Set<CacheStoreName> = []
    /// Called when no store closes its folder any more.
    private var didClose: () -> Void = {}
    /// Receives what happens in the stores; not retained.
    public weak var observer: (any CacheObserver)? {
        didSet { for store in stores.values { store.observer = observer } }
    }

    /// Makes stores.
    /// - Parameters:
    ///   - memoryBytes: the most bytes of responses in memory, of all stores.
    ///   - place: where those on disk are; `nil` for none on disk.
    public init(loop: EventLoop, memoryBytes: Int = 16_777_216, place: Place? = nil) {
        self.loop = loop
        self.place = place
        ledger = MemoryLedger(maximumBytes: memoryBytes)
        evictions = EvictionReports(loop: loop)
    }

    // MARK: Stores

    /// Opens the store of a session, so that it is ready for the first request. One that has other settings ends, such
    /// as that of a session of this name before.
    public func prepare(for use: CacheUse) {
        let name = use.values.store
        if let known = stores[name], !known.isProvisional, known.settings != use.values.settings {
            end(name, removing: false)
        }
        _ = store(for: use)
    }

    /// The settings of a store; `nil` if no session has used it in this run.
    public func settings(of name: CacheStoreName) -> CacheSettings? {
        stores[name].flatMap { $0.isProvisional ? nil : $0.settings }
    }

    /// The names of the stores of a user, in order.
    public func names(of user: UInt32?) -> [CacheStoreName] { all(of: user).map(\.name) }

    /// The store of a request, which is made with the settings of the first.
    func store(for use: CacheUse) -> ResponseStore {
        if let last, last.use === use { return last.store }
        let (name, settings) = (use.values.store, use.values.settings)
        // One that was opened for a list has its part on disk.
        if let known = stores[name], known.isProvisional, settings.diskBytes == 0 { end(name, removing: false) }
        let store = stores[name] ?? make(name, settings, isProvisional: false)
        if store.isProvisional {
            store.adopt(settings)
            shareDisk()
        }
        last = (use, store)
        return store
    }

    func make(
        _ name: CacheStoreName, _ settings: CacheSettings, isProvisional: Bool
    ) -> ResponseStore {
        let store = ResponseStore(
            name, settings: settings, isProvisional: isProvisional, ledger: ledger, disk: disk(name, settings))
        store.observer = observer
        store.memory.onEviction = { [evictions, weak store] record in
            guard let store else { return }
            let lost = record.entries.count { !$0.isOnDisk }
            store.counters.evicted += lost
            if lost > 0 { evictions.add(lost, record.countedBytes, of: store) }
        }
        stores[name] = store
        shareDisk()
        return store
    }

    private func disk(_ name: CacheStoreName, _ settings: CacheSettings) -> DiskStore? {
        guard let place, settings.diskBytes > 0, place.maximumBytes > 0 else { return nil }
        let share = WorkerShare(user: name.user ?? .max, client: "cache")
        let disk = DiskStore(
            folder: "\(place.directory)/\(place.folderName(name))", maximumBytes: settings.diskBytes, loop: loop,
            work: WorkerAccess(place.worker, share: share)
        ) { [weak self] event in
            if let self, let store = stores[name] { store.didReport(event, evictions) }
        }
        if closing[name] == nil { disk.open() }
        return disk
    }

    /// Divides the disk among users, and what a user has among its stores, if they would take more than there may be.
    private func shareDisk() {
        guard let place else { return }
        // Those of earlier runs keep what they have until a session uses them.
        let all = stores.values.filter { $0.disk != nil && !$0.isProvisional }
        var wanted: [UInt32?: Int] = [:]
        for store in all { wanted[store.name.user, default: 0] += min(store.settings.diskBytes, place.maximumBytes) }
        let shares = CacheStores.shares(of: wanted, among: place.maximumBytes)
        for store in all {
            let (own, user) = (min(store.settings.diskBytes, place.maximumBytes), store.name.user)
            let part = Double(shares[user] ?? 0) / Double(max(1, wanted[user] ?? 0))
            let share = min(own, Int(Double(own) * part))
            if store.disk?.maximumBytes != share { store.disk?.maximumBytes = share }
        }
    }

    /// What each user has: what it wants if that is less than an equal part of what the others leave.
    static func shares(of wanted: [UInt32?: Int], among bytes: Int) -> [UInt32?: Int] {
        var shares: [UInt32?: Int] = [:]
        var (room, users) = (bytes, wanted.count)
        for (user, bytes) in wanted.sorted(by: { $0.value < $1.value }) {
            let share = min(bytes, room / users)
            shares[user] = share
            room -= share
            users -= 1
        }
        return shares
    }

    /// The store of a name; `nil` if no request has used it.
    func known(_ name: CacheStoreName) -> ResponseStore? { stores[name] }

    /// The stores of a user, in order of their names.
    func all(of user: UInt32?) -> [ResponseStore] {
        stores.values.filter { $0.name.user == user }.sorted { $0.name.precedes($1.name) }
    }

    // MARK: Ending

    /// Ends the store of a session that is over. What is on disk stays for the next store of the name, unless the
    /// responses are removed.
    /// - Parameter then: called when its folder is closed.
    public func end(_ name: CacheStoreName, removing: Bool, then: @escaping () -> Void = {}) {
        guard let store = stores[name] else { return then() }
        last = nil
        stores[name] = nil
        store.forget()
        let work = Slices.forEach(of: Array(store.memory.records.values)) { store.memory.forget($0) }
        if work.runSlice() { loop.runInSlices(work) }
        guard let disk = store.disk else { return then() }
        guard disk.state != .idle else {
            // An earlier store of the name still closes the folder.
            if removing { removesWhenClosed.insert(name) }
            return then()
        }
        // The next store of the name opens the folder when this one has closed it.
        beginClosing(name)
        let close = { [self] in
            disk.close { [self] in
                then()
                endClosing(name)
                trimDormant()
            }
        }
        if removing { disk.purge(.all) { _ in close() } } else { close() }
    }

    /// The folder of a name is not free: a new store of the name opens it after ``endClosing(_:)``.
    func beginClosing(_ name: CacheStoreName) { closing[name, default: 0] += 1 }

    func endClosing(_ name: CacheStoreName) {
        let left = (closing[name] ?? 1) - 1
        closing[name] = left > 0 ? left : nil
        guard left == 0 else { return }
        if let place, removesWhenClosed.remove(name) != nil {
            return removeDormant(name, place.folderName(name), place)
        }
        stores[name]?.disk?.open()
        if closing.isEmpty { didClose() }
    }

    /// Calls back when no store closes its folder any more.
    private func whenClosed(_ then: @escaping () -> Void) {
        if closing.isEmpty { return then() }
        didClose = { [didClose] in
            didClose()
            then()
        }
    }

    /// The folders of the stores that sessions use, or that are being closed.
    var usedFolders: Set<String> {
        guard let place else { return [] }
        let used = stores.values.filter { !$0.isProvisional }.map(\.name)
        return Set((used + Array(closing.keys)).map(place.folderName))
    }

    private func endProvisional() {
        for store in stores.values where store.isProvisional { end(store.name, removing: false) }
    }

    /// The bytes on disk of the stores that sessions use.
    var diskBytesInUse: Int {
        stores.values.reduce(0) { $0 &+ ($1.isProvisional ? 0 : $1.disk?.totals.bytes ?? 0) }
    }

    /// Writes what waits to be written, and closes the stores on disk.
    public func close(then: @escaping () -> Void) {
        let open = stores.values.compactMap(\.disk)
        var left = open.count
        guard left > 0 else { return whenClosed(then) }
        for disk in open {
            disk.close { [self] in
                left -= 1
                if left == 0 { whenClosed(then) }
            }
        }
    }
}
