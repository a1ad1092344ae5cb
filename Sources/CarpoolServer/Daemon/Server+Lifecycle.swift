internal import CarpoolCache
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

extension Server: DaemonControl {
    var isServing: Bool { lifecycle.isServing }
    var isDraining: Bool { lifecycle.state == .draining }
    var stateName: String { lifecycle.state.rawValue }
}

// How the daemon ends: on a signal, on a call, or because it is idle.
extension Server {
    /// How long queued output is sent before connections are closed; a client that does not read cannot delay the end.
    private static let flushMilliseconds = 1_000
    /// How long answers that wait for a disk, a serializer or their client are waited for: with the drain, less than
    /// clients wait for the next daemon.
    private static let delayedMilliseconds = 2_000
    /// The one tick of an idle daemon.
    private static let tickMilliseconds = 30_000

    /// Refuses new requests, waits for the active ones, then ends. A second call ends at once.
    func drain(milliseconds: Int?) {
        carryOut(
            lifecycle.drain(
                milliseconds: milliseconds ?? configuration.current.drainMilliseconds, active: requests.registry.active)
        )
    }

    /// Ends at once: active requests are cancelled, and their callers get answers.
    func stop() { carryOut(lifecycle.stop(active: requests.registry.active)) }

    /// Called when a request is over.
    func requestsDidChange() {
        carryOut(lifecycle.requestsDidChange(active: requests.registry.active))
        armIdleExit()
    }

    private func carryOut(_ action: Lifecycle.Action) {
        switch action {
        case .none: return
        case .drain(let milliseconds):
            log.write(
                .info, "draining",
                [("requests", String(requests.registry.active)), ("deadline_ms", String(milliseconds))])
            options.supervisor.notify(.stopping)
            publisher.publish(.daemonDraining) { $0.member("deadline_ms", milliseconds) }
            sessions.cache.endValidations()
            loop.arm(Timer { [unowned self] in stop() }, afterMilliseconds: milliseconds)
        case .cancel:
            log.write(.info, "cancelling", [("requests", String(requests.registry.active))])
            options.supervisor.notify(.stopping)
            // All of them, also those of sessions that were invalidated since.
            let work = Slices.forEach(of: requests.registry.underWay) { $0.request.cancel(producingResumeData: true) }
            if work.runSlice() { loop.runInSlices(work) }
        case .close:
            log.write(.info, "stopping")
            options.supervisor.notify(.stopping)
            closeWhenAnswered(limit: .read().advanced(milliseconds: Server.delayedMilliseconds))
        }
    }

    /// Closes the connections in a later turn, so that the answers of this one are queued before, and those of a crowd
    /// that is being answered. Answers that wait for a disk, a serializer or their client, and messages that were read,
    /// are waited for up to the limit.
    private func closeWhenAnswered(limit: MonotonicTime) {
        let timer = Timer { [unowned self] in
            let isBusy = requests.pendingAnswers.delayed > 0 || connections.values.contains { $0.hasMessages }
            let waits = requests.pendingAnswers.requestsWithWaitingCalls > 0 || isBusy && .read() < limit
            if waits { closeWhenAnswered(limit: limit) } else { closeConnections() }
        }
        loop.arm(timer, afterMilliseconds: 1)
    }

    private func closeConnections() {
        let work = Slices.forEach(of: Array(connections.values)) { $0.closeAfterFlush() }
        if work.runSlice() { loop.runInSlices(work) }
        loop.arm(
            Timer { [unowned self] in end() }, afterMilliseconds: connections.isEmpty ? 0 : Server.flushMilliseconds)
    }

    /// Called when a connection is closed.
    func endIfStopped() {
        if lifecycle.state == .closing, connections.isEmpty { end() }
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        for connection in Array(connections.values) {
            // An answer of this turn is not sent yet: that to a call that has come just now.
            connection.turnDidEnd()
            connection.close()
        }
        sessions.connectivity.stop()
        reachability.stop()
        // A disk that does not answer must not delay the end: the next daemon removes what is left.
        loop.arm(Timer { [unowned self] in notifyStopped() }, afterMilliseconds: Server.flushMilliseconds)
        // The cookies first: the next daemon can remove what is left of the spool.
        sessions.cookies.writeAll { [unowned self] in
            sessions.cache.stores.close { [unowned self] in
                spool.removeAll { [unowned self] in notifyStopped() }
            }
        }
    }

    private func notifyStopped() {
        let onStopped = onStopped
        self.onStopped = {}
        onStopped()
    }

    // MARK: Housekeeping

    /// Starts the tick that removes old results and bodies.
    func startHousekeeping() {
        loop.arm(Timer { [unowned self] in tick() }, afterMilliseconds: Server.tickMilliseconds)
        if let milliseconds = options.supervisor.watchdogMilliseconds {
            keepWatchdogQuiet(every: max(1, milliseconds / 2))
        }
        removeOldPartialFiles()
        removeOldStores()
        armIdleExit()
        // After the first turn, so that clients that wait for the daemon to start do not wait for this.
        let lookAtNetwork = Timer { [unowned self] in
            reachability.start()
            sessions.connectivity.start()
        }
        loop.arm(lookAtNetwork, afterMilliseconds: 0)
    }

    /// Interval of the search for old partial files, in milliseconds: they are kept for days.
    private static let partialsMilliseconds = 3_600_000

    /// Interval of the search for stores of responses that no session uses and for which there is no room.
    private static let storesMilliseconds = 3_600_000

    private func removeOldStores() {
        sessions.cache.stores.trimDormant()
        loop.arm(Timer { [unowned self] in removeOldStores() }, afterMilliseconds: Server.storesMilliseconds)
    }

    private func removeOldPartialFiles() {
        guard let partials else { return }
        // The next time is counted from its end: on a disk that does not answer it holds one thread, not one more each
        // hour.
        files.runAlways(for: .housekeeping, { partials.removeOld() }) { [unowned self] in
            loop.arm(
                Timer { [unowned self] in removeOldPartialFiles() }, afterMilliseconds: Server.partialsMilliseconds)
        }
    }

    private func tick() {
        let now = WallClock.microseconds()
        requests.dismissExpired(at: now)
        spool.releaseExpired(at: now)
        reachability.tick()
        giveMemoryBack()
        armIdleExit()
        loop.arm(Timer { [unowned self] in tick() }, afterMilliseconds: Server.tickMilliseconds)
    }

    /// Returns the memory of a burst to the system: at each tick while the burst continues, and once more when it is
    /// over.
    private func giveMemoryBack() {
        let isBurst = loop.turns &- lastTrim.turns >= Server.turnsOfABurst
        guard isBurst || lastTrim.wasBurst else { return }
        lastTrim = (loop.turns, isBurst)
        connections.shrink()
        requests.shrink()
        Heap.trim()
    }

    /// After fewer turns there is no memory to return.
    private static let turnsOfABurst = 100

    private func keepWatchdogQuiet(every milliseconds: Int) {
        options.supervisor.notify(.watchdog)
        loop.arm(Timer { [unowned self] in keepWatchdogQuiet(every: milliseconds) }, afterMilliseconds: milliseconds)
    }

    // MARK: Idle exit

    /// Whether the daemon is idle: no connection, no active request, no leased body, no unread result.
    private var isIdle: Bool {
        connections.isEmpty && requests.registry.active == 0 && spool.count == 0 && !requests.registry.hasUnreadResults
    }

    /// Starts the idle timeout, if the daemon was started on demand.
    func armIdleExit() {
        let milliseconds = options.idleExitMilliseconds ?? configuration.current.idleExitMilliseconds
        guard options.isStartedOnDemand, milliseconds > 0, lifecycle.isServing else { return }
        guard isIdle else { return loop.cancel(idleExit) }
        guard !idleExit.isArmed else { return }
        loop.arm(idleExit, afterMilliseconds: milliseconds)
    }
}
