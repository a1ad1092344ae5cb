internal import CarpoolCache
internal import CarpoolHTTP
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// The stores of responses: where they are, and their events.
final class CacheService: CacheObserver {
    let stores: CacheStores
    private let configuration: LiveConfiguration
    private let publisher: EventPublisher
    private let log: Log
    private weak var transport: CachingTransport?
    /// The work of each user that waits; there is an entry as long as any of it is under way.
    private var turns: [UInt32: [(_ done: @escaping () -> Void) -> Void]] = [:]

    init(
        _ options: ServerOptions, _ loop: EventLoop, _ worker: Worker, _ publisher: EventPublisher, _ log: Log,
        _ configuration: LiveConfiguration
    ) {
        self.configuration = configuration
        self.publisher = publisher
        self.log = log
        let owner = publisher.owner
        let place = options.responsesDirectory.map { directory in
            CacheStores.Place(
                worker: worker, maximumBytes: configuration.limits.cacheDiskBytes, directory: directory,
                folderName: { CacheService.folderName($0, owner: owner) },
                storeName: { CacheService.storeName(ofFolder: $0, owner: owner) })
        }
        stores = CacheStores(loop: loop, memoryBytes: configuration.limits.cacheMemoryBytes, place: place)
        stores.observer = self
    }

    /// A transport that uses the stores, in front of another one.
    func transport(to next: any Transport) -> any Transport {
        let caching = CachingTransport(next: next, loop: stores.loop, stores: stores)
        transport = caching
        return caching
    }

    /// Ends the requests in the background, which have no caller that waits for them (HV-09).
    func endValidations() { transport?.endValidations() }

    /// The folder of a store: two stores never have the same.
    private static func folderName(_ name: CacheStoreName, owner: UInt32) -> String {
        "\(name.user ?? owner).\(name.isShared ? "shared" : "session").\(name.name)"
    }

    /// Whether the configuration turns all caches off.
    var isOff: Bool { configuration.current.turnsCacheOff }

    /// Ends the store of a session that is over, unless another session shares it.
    /// - Parameter used: the stores of the other sessions of its user.
    func release(_ session: Session, used: Set<CacheStoreName>, removing: Bool) {
        session.hasReleasedCache = true
        guard let name = session.cacheStoreName, !used.contains(name) else { return }
        stores.end(name, removing: !name.isShared && (removing || session.configuration.isEphemeral))
    }

    /// Calls back when all stores of a user that are on disk are open, also those of earlier runs.
    func openAll(of uid: UInt32, then: @escaping () -> Void) {
        stores.openAll(of: uid == publisher.owner ? nil : uid, then: then)
    }

    /// Carries out work on all stores of a user when the work of the same user before it is done.
    func inTurn(of uid: UInt32, _ work: @escaping (_ done: @escaping () -> Void) -> Void) {
        if turns[uid] != nil {
            turns[uid]?.append(work)
            return
        }
        turns[uid] = []
        begin(work, of: uid)
    }

    private func begin(_ work: (_ done: @escaping () -> Void) -> Void, of uid: UInt32) {
        work { [self] in
            // In a turn of its own, so that many calls that nobody waits for any more do not nest.
            stores.loop.arm(Timer { [self] in beginNext(of: uid) }, afterMilliseconds: 0)
        }
    }

    private func beginNext(of uid: UInt32) {
        guard let next = turns[uid]?.first else {
            turns[uid] = nil
            return
        }
        turns[uid]?.removeFirst()
        begin(next, of: uid)
    }

    private static func storeName(ofFolder folder: String, owner: UInt32) -> CacheStoreName? {
        let parts = folder.split(separator: ".", maxSplits: 2)
        guard parts.count == 3, let uid = UInt32(parts[0]), parts[1] == "shared" || parts[1] == "session" else {
            return nil
        }
        return CacheStoreName(
            user: uid == owner ? nil : uid, name: String(parts[2]), isShared: parts[1] == "shared")
    }

    // MARK: Events

    func store(_ name: CacheStoreName, did event: CacheEvent) {
        if case .writeFailed(let message, _) = event {
            log.write(.warning, "responses are not stored on disk", [("store", name.name), ("error", message)])
        }
        let subject = EventSubject(session: nil, uid: name.user ?? publisher.owner)
        publisher.publish(CacheService.type(of: event), about: subject) { writer in
            writer.member("store", name.name)
            CacheWriter.write(event, publisher.record, to: &writer)
        }
    }

    private static func type(of event: CacheEvent) -> EventType {
        switch event {
        case .stored: .cacheStored
        case .revalidated: .cacheRevalidated
        case .invalidated: .cacheInvalidated
        case .evicted: .cacheEvicted
        case .writeFailed: .cacheWriteFailed
        }
    }
}
