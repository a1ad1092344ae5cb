internal import CarpoolCache
internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// Makes and finds the sessions of all users.
final class SessionService {
    var table = SessionTable()
    /// The sessions that clients hold, and the memory of their configurations.
    let quota = QuotaLedger()
    let memoryQuota = QuotaLedger()
    /// The jars of sessions, and of requests that have their own.
    let cookies: CookieService
    /// The account of what requests use of memory; set once the requests are there.
    var memory: (any RequestMemory)?
    /// Knows the network, for the sessions.
    let connectivity: NetworkConnectivity
    let files: FileStore
    let streamMemory: StreamMemory
    /// The stores of responses.
    let cache: CacheService
    private let transport: any Transport
    private let loop: EventLoop
    private let spool: Spool
    private let publisher: EventPublisher

    /// For `Accept-Language`, where neither session nor request says otherwise: the same for all users.
    static let languages = ["en"]

    init(
        transport: any Transport, loop: EventLoop, spool: Spool, files: FileStore, publisher: EventPublisher,
        connectivity: NetworkConnectivity, cookies: CookieService, cache: CacheService
    ) {
        self.transport = transport
        self.loop = loop
        self.spool = spool
        self.files = files
        self.publisher = publisher
        self.connectivity = connectivity
        self.cookies = cookies
        self.cache = cache
        let limits = publisher.limits
        streamMemory = StreamMemory(streamBytes: limits.streamBytes, totalBytes: limits.totalStreamBytes)
    }

    /// Makes a session.
    /// - Parameter saved: the cookies of its file, if it is persistent and has no jar yet.
    func make(
        name: String, of uid: UInt32, _ configuration: SessionConfiguration, saved: [Cookie] = []
    ) -> Session {
        var configuration = configuration
        if cache.isOff { configuration.caching = nil }
        let session = Session(
            name: name, user: uid == publisher.owner ? nil : uid, configuration: configuration, transport: transport,
            scheduler: loop, spool: spool, files: files, eventMonitor: publisher, streamMemory: streamMemory,
            connectivity: connectivity,
            cookieJar: configuration.cookies.map { cookies.jar($0, ofSession: name, uid: uid, saved: saved) })
        session.memory = memory
        session.makeCookieMemory = { [cookies] in cookies.account(of: uid) }
        return session
    }

    /// Refuses a session that shares a store and has other settings for it.
    func checkStore(
        of configuration: SessionConfiguration, session: String, uid: UInt32, path: String
    ) throws(RPCError) {
        guard let caching = configuration.caching, let name = caching.storeName, !cache.isOff else { return }
        var settings = caching.settings
        if configuration.isEphemeral { settings.diskBytes = 0 }
        let user = uid == publisher.owner ? nil : uid
        let store = CacheStoreName(user: user, name: name, isShared: true)
        guard let known = cache.stores.settings(of: store), known != settings,
            table.sessions(of: uid).contains(where: { $0.name != session && $0.cacheStoreName == store })
        else { return }
        throw .invalidParams(
            path: path, message: "another session has other settings for the store \(name)",
            expected: "the same settings in all sessions that share a store, or another store")
    }

    /// Opens the store of a session that has a name from now on. One of an earlier session with other settings ends.
    func prepareCache(of session: Session) {
        if let use = session.standardCacheUse { cache.stores.prepare(for: use) }
    }

    /// Ends the store of a session that is over.
    func releaseCache(of session: Session, uid: UInt32, removing: Bool) {
        guard session.cacheStoreName != nil else { return }
        let others = table.sessions(of: uid).filter { $0 !== session }
        cache.release(session, used: Set(others.compactMap(\.cacheStoreName)), removing: removing)
    }

    /// The caller's session of that name, `default` if the call names none. Other users' sessions are as if they did
    /// not exist.
    func session(_ json: JSON?, of client: any Client) throws(RPCError) -> Session {
        let uid = client.uid
        guard let json, !json.isString("default") else { return standard(of: uid) }
        let name = json.string ?? ""
        guard let entry = table.entry(name, of: uid) else {
            throw .sessionNotFound(name, didYouMean: NearestName.find(name, among: table.names(of: uid)))
        }
        return entry.session
    }

    /// Ends a session that a client has created: its name is free again. Running requests finish, or are cancelled.
    /// - Parameter forgetting: whether its stored responses are removed.
    func end(_ session: Session, of uid: UInt32, cancelling: Bool = false, forgetting: Bool = false) {
        guard table.entry(session.name, of: uid)?.session === session else { return }
        session.invalidate(cancelling: cancelling) { [loop] requests, end in
            let work = Slices.forEach(of: requests, end)
            if work.runSlice() { loop.runInSlices(work) }
        }
        table.remove(session.name, of: uid)
        cookies.release(session: session.name, of: uid)
        releaseCache(of: session, uid: uid, removing: forgetting)
    }

    /// A `default` session without settings of its own.
    func makeStandard(of uid: UInt32) -> Session {
        var shared = SessionConfiguration()
        shared.languages = SessionService.languages
        shared.caching = .standard
        let session = make(name: SessionTable.standardName, of: uid, shared)
        prepareCache(of: session)
        return session
    }

    /// A user's `default` session.
    func standard(of uid: UInt32) -> Session {
        table.standard(of: uid) { makeStandard(of: uid) }
    }
}
