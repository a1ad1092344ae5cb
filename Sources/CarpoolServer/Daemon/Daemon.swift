internal import CarpoolHTTP
public import CarpoolSystem

/// The daemon: it owns everything, and runs on the one loop, which is its executor. What it owns is not `Sendable` and
/// cannot leave.
public actor Daemon {
    /// The loop that the daemon runs on. The creator of the daemon runs the loop, on the thread that made it.
    public nonisolated let loop: EventLoop

    /// The loop, so that nothing of the daemon ever runs on another thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var server: Server?
    private var listener: Listener?
    private var signals: SignalSource?

    /// Makes a daemon for a loop; it does nothing before ``run(_:configuration:listener:status:)``.
    public init(loop: EventLoop) { self.loop = loop }

    /// Begins to serve a listening socket; everything else happens when the loop runs.
    /// - Parameters:
    ///   - fd: a listening Unix socket that does not block; it is taken over.
    ///   - onStopped: called once, on the loop, when all is written out and the daemon has ended: on a signal, a call
    ///     or idleness.
    /// - Throws: ``ServerError`` if it cannot begin; then nothing has been served.
    public func start(
        _ options: ServerOptions, configuration: ServerConfiguration, listener fd: Int32,
        onStopped: @escaping () -> Void
    ) throws(ServerError) {
        let log = Log(level: options.logLevel ?? configuration.logLevel)
        let server = try Server(loop: loop, options: options, configuration: configuration, log: log)
        self.server = server
        do throws(SystemError) {
            signals = try SignalSource(loop: loop) { [unowned server] in server.receive($0) }
        } catch {
            throw ServerError(error.description)
        }
        let listener = Listener(fd: FileDescriptor(owning: fd), loop: loop) { [unowned server] in
            server.connections.admit($0)
        }
        // Idle connections to origins are closed in favour of a client.
        listener.accepts = { [unowned server] in server.connections.acceptsPeers }
        listener.onExhausted = { [unowned server] in _ = server.transport.closeIdleConnections() }
        listener.refuse = { [unowned server] in server.connections.refuse($0, forLackOf: $1) }
        self.listener = listener
        server.onStopped = {
            log.write(.info, "stopped")
            onStopped()
        }
        server.startHousekeeping()
        options.supervisor.notify(.ready)
        for (named, used) in options.replacedDirectories {
            log.write(
                .warning, "a directory is not used, because another user can replace it",
                [("directory", named), ("instead", used)])
        }
        log.write(.info, "serving", [("socket", options.socketPath), ("version", ServerVersion.text)])
    }

    /// Releases everything, so that the socket is closed before it is removed.
    /// - Returns: whether work on files has not come back, such as a read from a disk that does not answer. It runs on:
    ///   the process must end without destroying what it may use (_exit(2)).
    public func close() -> Bool {
        let hasJobs = server?.worker.isIdle == false
        listener?.close()
        listener = nil
        signals?.close()
        signals = nil
        server?.log.flush()
        server = nil
        return hasJobs
    }
}

extension Server {
    /// SIGTERM and SIGINT drain, the second one ends at once; SIGHUP reads the configuration again.
    func receive(_ signal: Signal) {
        switch signal {
        case .terminate, .interrupt: drain(milliseconds: nil)
        case .hangUp:
            options.supervisor.notify(.reloading)
            reload { [unowned self] result in
                switch result {
                case .success(let reload):
                    log.write(.info, "configuration read", [("changed", reload.changed.joined(separator: ","))])
                case .failure(let error):
                    log.write(.error, "configuration refused", [("error", error.description)])
                }
                options.supervisor.notify(.ready)
            }
        }
    }
}
