internal import CarpoolServer
internal import CarpoolSystem
internal import Glibc

/// Everything between the command line and the first client: the configuration, the directories, the lock, the socket.
struct Startup: ~Copyable {
    let options: ServerOptions
    let configuration: ServerConfiguration
    /// Held for life: it says that this daemon serves, and lets it remove a stale socket and clean the spool.
    let lock: InstanceLock
    /// The listening socket; the daemon takes it over.
    let listener: Int32
    /// Whether the socket is ours to remove when the daemon ends, or the supervisor's.
    let ownsSocket: Bool

    static func prepare(_ arguments: Options, _ supervisor: Supervisor, isSpawned: Bool) throws(ServerError) -> Startup
    {
        let named = Directories(environment: .process, uid: geteuid())
        let directories = named.own
        let configurationPath = arguments.configuration ?? "\(directories.configuration)/config.json"
        let configuration = try ServerConfiguration.read(from: configurationPath)
        do throws(SystemError) {
            let location = SocketLocation.resolve(option: arguments.socket)
            try location.prepare(for: configuration.audience)
            let handed = supervisor.takeListener()?.release()
            let path = handed.flatMap { UnixSocket.boundPath(of: $0) } ?? location.path
            let lock: InstanceLock
            switch try InstanceLock.acquire(at: location.lockPath, socketPath: path) {
            case .acquired(let taken): lock = taken
            case .held(let holder): throw Startup.alreadyRunning(holder, location)
            }
            if handed == nil { try lock.removeStaleSocket() }
            let listener: Int32
            if let handed {
                listener = handed
            } else {
                listener = try UnixSocket.listen(at: path, for: configuration.audience).release()
            }
            var options = ServerOptions(
                socketPath: path, configurationPath: configurationPath,
                spoolDirectory: "\(directories.cache)/spool\(Startup.suffix(of: path, location))",
                supervisor: supervisor)
            try Startup.createDirectories(&options, in: directories, Startup.suffix(of: path, location))
            options.replacedDirectories = Startup.replaced(named, by: directories)
            options.servesSpecificationExamples = arguments.servesTestCatalogue
            options.isStartedOnDemand = isSpawned || handed != nil || arguments.idleExitMilliseconds != nil
            options.idleExitMilliseconds = arguments.idleExitMilliseconds
            options.logLevel = arguments.logLevel
            return Startup(
                options: options, configuration: configuration, lock: lock, listener: listener,
                ownsSocket: handed == nil)
        } catch {
            throw ServerError(error.description)
        }
    }

    private static func alreadyRunning(_ holder: LockHolder?, _ location: SocketLocation) -> SystemError {
        let who =
            holder.map { "carpoold is already running: pid \($0.pid) serves \($0.socketPath)" }
            ?? "another carpoold is starting"
        return SystemError(code: EADDRINUSE, operation: "lock", subject: location.lockPath, advice: who)
    }

    /// The directories that another user could replace, and those that are used instead.
    private static func replaced(_ named: Directories, by own: Directories) -> [(String, String)] {
        [(named.state, own.state), (named.configuration, own.configuration), (named.cache, own.cache)]
            .filter { $0.0 != $0.1 }
    }

    private static func createDirectories(
        _ options: inout ServerOptions, in directories: Directories, _ suffix: String
    ) throws(SystemError) {
        options.partialsDirectory = "\(directories.state)/partials"
        options.cookiesDirectory = "\(directories.state)/cookies\(suffix)"
        options.responsesDirectory = "\(directories.cache)/responses\(suffix)"
        try PrivateDirectory.create(options.spoolDirectory)
        for directory in [options.partialsDirectory, options.cookiesDirectory] {
            if let directory { try PrivateDirectory.create(directory) }
        }
    }

    /// A short name for the socket's path, unless it is the usual one: daemons that serve different sockets keep their
    /// bodies and their cookies apart.
    private static func suffix(of path: String, _ location: SocketLocation) -> String {
        location.isExplicit ? "-\(String(StableHash(path.utf8).value, radix: 16))" : ""
    }

    /// Closes and removes the socket of a daemon that cannot serve.
    borrowing func removeListener() {
        guard ownsSocket else { return }
        close(listener)
        removeSocket()
    }

    /// Removes the socket after the last client has disconnected.
    borrowing func removeSocket() {
        guard ownsSocket else { return }
        // The listener is closed by now, so that the socket is as stale as one that a killed daemon leaves.
        try? lock.removeStaleSocket()
    }
}
