internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

// The configuration is read again: on SIGHUP or on a call.
extension Server {
    /// Reads the configuration again, on the worker. A file that is refused changes nothing. Reloads take effect in the
    /// order of the calls.
    func reload(then: @escaping (Result<ConfigurationReload, ServerError>) -> Void) {
        let path = options.configurationPath
        let reading = { @Sendable () -> Result<ServerConfiguration, ServerError> in
            do throws(ServerError) { return .success(try ServerConfiguration.read(from: path)) } catch {
                return .failure(error)
            }
        }
        do throws(WorkerError) {
            try reloads.run(reading) { [unowned self] in then($0.map(takeOver)) }
        } catch {
            then(.failure(ServerError("cannot read the configuration: \(error)")))
        }
    }

    private func takeOver(_ read: ServerConfiguration) -> ConfigurationReload {
        var new = read
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
