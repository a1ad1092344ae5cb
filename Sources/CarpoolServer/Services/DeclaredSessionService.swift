internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// Makes the sessions that the configuration file declares, and replaces them when the file, or one that it names, has
/// changed. A session whose configuration is the same stays, with its credentials.
final class DeclaredSessionService {
    /// What a configuration changes, decided as a whole before anything is changed.
    struct Changes {
        fileprivate var made: [SessionTable.Entry] = []
        fileprivate var removed: [String] = []

        /// The sessions as `changed` of a reload names them.
        var names: [String] {
            let names = (made.map(\.session.name) + removed).sorted()
            return names.count > Changes.maximumNames ? ["sessions"] : names.map { "sessions.\($0)" }
        }

        /// More names would be too long for a line.
        private static let maximumNames = 256
    }

    private let sessions: SessionService
    private let requests: RequestService
    private let callFiles: CallFileService
    private let loop: EventLoop
    private let author: ConfigurationAuthor
    private var owner: UInt32 { author.uid }

    init(
        sessions: SessionService, requests: RequestService, callFiles: CallFileService, owner: UInt32, loop: EventLoop
    ) {
        self.sessions = sessions
        self.requests = requests
        self.callFiles = callFiles
        self.loop = loop
        author = ConfigurationAuthor(owner: owner)
    }

    /// Decides what the declared sessions change, and makes the new ones, in slices. Nothing may be carried out before
    /// it is over.
    /// - Parameter completion: called once, with the first refusal if there is one; then nothing has changed.
    func changes(
        to declared: [DeclaredSession], completion: @escaping (Result<Changes, RPCError>) -> Void
    ) -> any SlicedWork {
        _ = sessions.standard(of: owner)
        var changes = Changes()
        var rest = declared[...]
        return Slices { [self] in
            let slice = TimeSlice(microseconds: 500)
            do throws(RPCError) {
                while !slice.isOver, let next = rest.popFirst() {
                    if let entry = try entry(for: next) { changes.made.append(entry) }
                }
            } catch {
                completion(.failure(error))
                return false
            }
            guard rest.isEmpty else { return true }
            let names = Set(declared.map(\.name))
            changes.removed = sessions.table.declaredNames(of: owner).filter { !names.contains($0) }
            completion(.success(changes))
            return false
        }
    }

    /// Carries out the changes. The requests of sessions that are replaced or removed continue.
    func carryOut(_ changes: Changes) {
        var old = changes.made.map { sessions.table.replace(with: $0, of: owner) }
        for name in changes.removed {
            old.append(sessions.table.removeDeclared(name, of: owner) { sessions.makeStandard(of: owner) })
            sessions.cookies.release(session: name, of: owner)
        }
        for session in changes.made.map(\.session) where session.configuration.cookies?.isPersistent != true {
            sessions.cookies.release(session: session.name, of: owner)
        }
        exchangeCaches(of: old.compactMap(\.self), changes.made.map(\.session))
        let work = Slices.forEach(of: old.compactMap(\.self)) { $0.retire() }
        old = []
        if work.runSlice() { loop.runInSlices(work) }
    }

    /// Ends the stores that no session uses any more, and opens those of new sessions, in slices.
    private func exchangeCaches(of old: [Session], _ new: [Session]) {
        let used = Set(sessions.table.sessions(of: owner).compactMap(\.cacheStoreName))
        let ended = old.filter { $0.cacheStoreName != nil }
        let opened = new.filter { $0.cacheStoreName != nil }
        let work = Slices.forEach(of: ended.map { ($0, true) } + opened.map { ($0, false) }) { [self] session, isEnd in
            guard isEnd else { return sessions.prepareCache(of: session) }
            sessions.cache.release(session, used: used, removing: false)
        }
        if work.runSlice() { loop.runInSlices(work) }
    }

    /// The entry of a declared session; `nil` if the same one is there.
    private func entry(for declared: DeclaredSession) throws(RPCError) -> SessionTable.Entry? {
        let text = try DeclaredSessionService.parse(declared.text)
        let resolved = try DeclaredSessionService.parse(declared.resolved)
        callFiles.note(declared.files)
        let files = CallFiles(declared.files, descriptorCount: 0)
        let decoder = requests.decoder(for: author, files: files, ofSession: true)
        var configuration = try decoder.configuration(resolved, path: DeclaredSession.path(of: declared.name))
        if let known = sessions.table.entry(declared.name, of: owner), let declaration = known.declaration,
            declaration.resolved == declared.resolved, known.isMade(of: text, configuration)
        {
            return nil
        }
        configuration.hiddenFields = declared.hiddenFields
        try sessions.checkStore(
            of: configuration, session: declared.name, uid: owner,
            path: "\(DeclaredSession.path(of: declared.name)).cache")
        let cookies = sessions.cookies.cookies(of: declared, uid: owner)
        let session = sessions.make(name: declared.name, of: owner, configuration, saved: cookies)
        let declaration = SessionTable.Declaration(
            shown: try DeclaredSessionService.parse(declared.shown), resolved: declared.resolved)
        return SessionTable.Entry(session: session, configuration: text, tickets: [], declaration: declaration)
    }

    private static func parse(_ text: [UInt8]) throws(RPCError) -> JSON {
        do throws(JSONError) { return try JSON.parse(text) } catch { throw .internalError(error.description) }
    }
}

/// The configuration file as the caller whose parameters are read: the daemon's user, who sees the daemon's files.
private final class ConfigurationAuthor: Caller {
    let profile: ClientProfile
    let pathAccess = PathAccess.granted
    /// Only requests have answers.
    let limits = ClientLimits(inlineBodyBytes: 0, recordBytes: 0, takesDescriptors: false)

    init(owner: UInt32) {
        profile = ClientProfile(
            number: 0, credentials: PeerCredentials(uid: owner, gid: owner, pid: 0),
            identity: ClientIdentity(uid: owner, name: .program("carpoold")), maximumLineBytes: 0)
    }
}
