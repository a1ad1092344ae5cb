internal import CarpoolSession
internal import CarpoolSystem

/// The jars of sessions: their memory, and the files of those that are persistent.
final class CookieService {
    /// A persistent jar. It stays after its session has ended, until its file is written.
    private final class Saved {
        let jar: CookieJar
        /// Whether the jar has changed since its file was last written.
        var isChanged = false
        var isWriting = false
        /// Whether its session has ended.
        var isReleased = false
        var timer: Timer?

        init(_ jar: CookieJar) { self.jar = jar }
    }

    /// The memory of all jars.
    private let accounts: MemoryAccounts
    private let folder: CookieFolder?
    private let loop: EventLoop
    private let worker: Worker
    private let log: Log
    private var saved: [CookieFolder.Key: Saved] = [:]
    /// Called when no file is being written any more.
    private var onWritten: (() -> Void)?

    /// Time between a change and its writing, in milliseconds: a page sets several cookies in a row.
    private static let delayMilliseconds = 1_000
    /// Time between a failure and the next attempt to write, in milliseconds.
    private static let retryMilliseconds = 30_000

    init(_ options: ServerOptions, _ loop: EventLoop, _ worker: Worker, _ log: Log, _ configuration: LiveConfiguration)
    {
        folder = options.cookiesDirectory.map(CookieFolder.init)
        self.loop = loop
        self.worker = worker
        self.log = log
        accounts = MemoryAccounts(of: "cookies") { [configuration] in configuration.limits.cookieBounds }
    }

    /// The account of one more jar of a user.
    func account(of uid: UInt32) -> any SharedMemory { accounts.make(of: uid) }

    /// The jar of a session: of a persistent one the same as long as the daemon runs.
    func jar(
        _ settings: CookieSettings, ofSession name: String, uid: UInt32, saved cookies: [Cookie]
    ) -> CookieJar {
        guard settings.isPersistent, let folder else { return CookieJar(memory: account(of: uid)) }
        let key = CookieFolder.Key(uid: uid, session: name)
        if let known = saved[key] {
            known.isReleased = false
            return known.jar
        }
        let jar = CookieJar(memory: account(of: uid))
        jar.add(cookies)
        let entry = Saved(jar)
        saved[key] = entry
        jar.didChange = { [unowned self, weak entry] in
            if let entry { didChange(entry, key, folder) }
        }
        return jar
    }

    /// Reads the file of a session that is to be made. Calls the body at once if there is none to read.
    func load(
        _ settings: CookieSettings?, ofSession name: String, for client: ClientIdentity,
        then: @escaping (Result<[Cookie], CookieFolder.Refusal>) -> Void
    ) throws(WorkerError) {
        let key = CookieFolder.Key(uid: client.uid, session: name)
        guard let folder, settings?.isPersistent == true, saved[key] == nil else { return then(.success([])) }
        try worker.run(for: client.workerShare, { folder.reading(key) }, then: then)
    }

    /// The cookies that were read for a declared session. A file that cannot be read keeps no daemon from starting: the
    /// jar is empty then.
    func cookies(of declared: DeclaredSession, uid: UInt32) -> [Cookie] {
        do throws(CookieFolder.Refusal) { return try declared.cookies.get() } catch {
            log.write(
                .error, "cookies not read",
                [("session", declared.name), ("uid", String(uid)), ("error", error.message)])
            return []
        }
    }

    /// Reads the files of sessions that the configuration declares. May block, and runs on any thread.
    var reader: @Sendable (_ sessions: [DeclaredSession], _ uid: UInt32) -> [DeclaredSession] {
        { [folder] in CookieService.load($0, of: $1, from: folder) }
    }

    private static func load(
        _ sessions: [DeclaredSession], of uid: UInt32, from folder: CookieFolder?
    ) -> [DeclaredSession] {
        guard let folder else { return sessions }
        return sessions.map { session in
            guard session.hasPersistentCookies else { return session }
            var session = session
            session.cookies = folder.reading(CookieFolder.Key(uid: uid, session: session.name))
            return session
        }
    }

    // MARK: Writing

    /// Notes that a session has ended: its jar goes when its file is written.
    func release(session name: String, of uid: UInt32) {
        let key = CookieFolder.Key(uid: uid, session: name)
        guard let entry = saved[key] else { return }
        entry.isReleased = true
        removeIfUnused(entry, key)
    }

    private func removeIfUnused(_ entry: Saved, _ key: CookieFolder.Key) {
        guard entry.isReleased, !entry.isChanged, !entry.isWriting else { return }
        entry.jar.didChange = nil
        saved[key] = nil
    }

    private func didChange(_ entry: Saved, _ key: CookieFolder.Key, _ folder: CookieFolder) {
        entry.isChanged = true
        armWriting(entry, key, folder, milliseconds: CookieService.delayMilliseconds)
    }

    private func armWriting(
        _ entry: Saved, _ key: CookieFolder.Key, _ folder: CookieFolder, milliseconds: Int
    ) {
        guard entry.timer == nil, !entry.isWriting else { return }
        let timer = Timer { [unowned self] in write(entry, key, folder) }
        entry.timer = timer
        loop.arm(timer, afterMilliseconds: milliseconds)
    }

    private func write(_ entry: Saved, _ key: CookieFolder.Key, _ folder: CookieFolder) {
        if let timer = entry.timer { loop.cancel(timer) }
        entry.timer = nil
        (entry.isChanged, entry.isWriting) = (false, true)
        let cookies = CookieService.stored(entry.jar)
        worker.runAlways(for: .housekeeping, { folder.write(cookies, key) }) { [unowned self] error in
            entry.isWriting = false
            if let error { report(error, key) }
            didWrite(entry, key, folder, hasFailed: error != nil)
        }
    }

    private func didWrite(
        _ entry: Saved, _ key: CookieFolder.Key, _ folder: CookieFolder, hasFailed: Bool
    ) {
        if hasFailed, onWritten == nil {
            entry.isChanged = true
            armWriting(entry, key, folder, milliseconds: CookieService.retryMilliseconds)
        } else if entry.isChanged, onWritten != nil {
            // The daemon is ending: what has changed meanwhile is written at once.
            write(entry, key, folder)
        } else if entry.isChanged {
            armWriting(entry, key, folder, milliseconds: CookieService.delayMilliseconds)
        }
        removeIfUnused(entry, key)
        endIfWritten()
    }

    private func report(_ error: SystemError, _ key: CookieFolder.Key) {
        log.write(
            .error, "cookies not stored",
            [("session", key.session), ("uid", String(key.uid)), ("error", error.description)])
    }

    /// Writes at once what has changed, at the end of the daemon, and calls the body when that is done.
    func writeAll(then: @escaping () -> Void) {
        onWritten = then
        if let folder {
            for (key, entry) in saved where entry.isChanged && !entry.isWriting { write(entry, key, folder) }
        }
        endIfWritten()
    }

    private func endIfWritten() {
        guard let then = onWritten, !saved.values.contains(where: \.isWriting) else { return }
        onWritten = nil
        then()
    }

    /// Those that outlive the session (RFC 6265bis, section 5.7): with an expiry date.
    private static func stored(_ jar: CookieJar) -> [Cookie] { jar.all().filter { $0.expires != nil } }
}

extension CookieFolder {
    fileprivate func reading(_ key: Key) -> Result<[Cookie], Refusal> {
        do throws(Refusal) { return .success(try read(key)) } catch { return .failure(error) }
    }
}
