internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

// The configuration is read again: on SIGHUP or on a call.
extension Server {
    /// Reads the configuration again, on the worker. A file that is refused changes nothing. Reloads take effect in the
    /// order of the calls.
    func reload(then: @escaping (Result<ConfigurationReload, ServerError>) -> Void) {
        let path = options.configurationPath
        let (readCookies, owner) = (sessions.cookies.reader, configuration.access.owner)
        let reading = { @Sendable () -> Result<ServerConfiguration, ServerError> in
            do throws(ServerError) {
                var configuration = try ServerConfiguration.read(from: path)
                configuration.sessions = readCookies(configuration.sessions, owner)
                return .success(configuration)
            } catch {
                return .failure(error)
            }
        }
        let hasRoom = reloads.add { [unowned self] in
            worker.runAlways(for: .process, reading) { [unowned self] read in
                switch read {
                case .success(let new): takeOver(new, then: then)
                case .failure(let error): end(.failure(error), then)
                }
            }
        }
        guard !hasRoom else { return }
        then(.failure(ServerError("cannot read the configuration: \(ReloadQueue.limit) reloads wait; try again later")))
    }

    private func end(
        _ result: Result<ConfigurationReload, ServerError>,
        _ then: (Result<ConfigurationReload, ServerError>) -> Void
    ) {
        then(result)
        reloads.didEnd()
    }

    /// Checks the sessions first, in slices, because they may be refused.
    private func takeOver(
        _ new: ServerConfiguration, then: @escaping (Result<ConfigurationReload, ServerError>) -> Void
    ) {
        let work = declared.changes(to: new.sessions) { [unowned self] changes in
            end(changes.mapError(refusal).map { takeOver(new, $0) }, then)
        }
        if work.runSlice() { loop.runInSlices(work) }
    }

    private func takeOver(_ new: ServerConfiguration, _ changes: DeclaredSessionService.Changes) -> ConfigurationReload
    {
        let reload = takeOver(settings: new)
        let names = changes.names
        if !names.isEmpty { publish(changedSessions: names) }
        declared.carryOut(changes)
        return ConfigurationReload(changed: reload.changed + names, waiting: reload.waiting)
    }

    /// Makes the sessions that the configuration declares at the start, before there are clients.
    func declareSessions() throws(ServerError) {
        var result: Result<DeclaredSessionService.Changes, RPCError>?
        let taken = sessions.cookies.reader(configuration.takeSessions(), configuration.access.owner)
        let work = declared.changes(to: taken) { result = $0 }
        while work.runSlice() {}
        if let changes = try result?.mapError(refusal).get() { declared.carryOut(changes) }
    }

    private func refusal(_ error: RPCError) -> ServerError {
        ServerError("\(options.configurationPath): \(Server.describe(error))")
    }

    /// A refusal of a session on one line, in the form of those of the file's other content.
    private static func describe(_ error: RPCError) -> String {
        let prefix = "Invalid params: "
        let message = error.message.hasPrefix(prefix) ? String(error.message.dropFirst(prefix.count)) : error.message
        let place = error["path"].flatMap { message.hasPrefix($0) || !$0.hasPrefix("configuration.") ? nil : "\($0): " }
        let remedy = error["expected"].map { "expected \($0)" } ?? error.hint
        let nearest = error["did_you_mean"].map { "; did you mean \($0)?" } ?? ""
        return "\(place ?? "")\(message)\(remedy.map { "; \($0)" } ?? "")\(nearest)"
    }

    /// An event of its own, because the names of sessions are for their user.
    private func publish(changedSessions names: [String]) {
        let reload = ConfigurationReload(changed: names, waiting: [])
        publisher.publish(
            .daemonConfigReloaded, about: EventSubject(session: nil, uid: configuration.access.owner)
        ) { reload.writeMembers(to: &$0) }
    }

    private func takeOver(settings read: ServerConfiguration) -> ConfigurationReload {
        var new = read
        new.sessions = []
        let old = configuration.current
        let names = new.differences(from: old)
        var waiting = names.filter { ServerConfiguration.restartOnly.contains($0) }
        if new.roles.isEmpty != old.roles.isEmpty { waiting.append("access.uids (mode of the socket)") }
        new.keepWhatNeedsRestart(of: old)
        apply(new)
        let reload = ConfigurationReload(
            changed: names.filter { !ServerConfiguration.restartOnly.contains($0) }, waiting: waiting)
        publisher.publish(.daemonConfigReloaded) { reload.writeMembers(to: &$0) }
        return reload
    }

    private func apply(_ new: ServerConfiguration) {
        configuration.current = new
        configuration.access.roles = new.roles
        reachability.reconfigure(new.reachability)
        log.level = options.logLevel ?? new.logLevel
        spool.limits = new.limits
        publisher.limits = new.limits
        publisher.limitJournal()
        sessions.streamMemory.streamBytes = new.limits.streamBytes
        sessions.streamMemory.totalBytes = new.limits.totalStreamBytes
        files.memory.fileBytes = new.limits.writeBytesPerFile
        files.memory.totalBytes = new.limits.writeBytes
        connections.closeThoseWithOldRole()
        loop.cancel(idleExit)
        armIdleExit()
    }
}
