internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

// The end of a connection, and of what was done for its client alone.
extension Connection {
    /// Ends the connection at once: its calls are abandoned, its dependent requests cancelled, its subscriptions gone, in slices if there are
    /// many.
    func close() {
        guard !isClosed else { return }
        resources.close()
        services.loop.forget(fd)
        closeSocket()
        closeInBackground(resources.descriptors.takeAll())
        ticket = nil
        work = []
        framer = MessageFramer()
        output = OutputQueue()
        batchBytes = 0
        noteMemory()
        abandonWork()
        owner?.connectionDidClose(self)
    }

    /// Lets go of all that was done for this client alone.
    private func abandonWork() {
        isAbandoning = true
        dropDueAnswers()
        guard !isScheduled, abandonSlice() else { return }
        isScheduled = true
        services.loop.runInSlices(self)
    }

    private var release: ClientResources.Release {
        ClientResources.Release { [services] entry in
            if entry.isKept {
                entry.request.cancel(producingResumeData: true)
            } else {
                services.requests.abandon(entry, keepingPartialFile: true)
            }
        } removeSubscription: { [services] in
            services.publisher.remove($0)
        } endWatch: { [services] watch in
            watch.end()
            services.reachability.watchDidEnd()
        }
    }

    /// Lets go of a part of it; gives whether there is more.
    func abandonSlice() -> Bool {
        var slice = InputSlice(since: .read())
        guard !resources.releaseSlice(release, until: { slice.isOver() }) else { return true }
        // Last, so that nothing is asked elsewhere for requests that have just been cancelled.
        services.callbacks.lose(number)
        isAbandoning = false
        if isClosed { owner?.connectionDidReleaseResources(self) } else { flushAfterTurn() }
        return false
    }

    /// A client that is shown out and does not read its last answers is waited for this long.
    private static let closingMilliseconds = 1_000

    /// Shows the client out once the answers of this turn are queued.
    func closeAfterReply() {
        services.loop.arm(Timer { [weak self] in self?.closeAfterFlush() }, afterMilliseconds: 0)
        services.loop.arm(Timer { [weak self] in self?.close() }, afterMilliseconds: Connection.closingMilliseconds)
    }

    /// Sends what is queued and closes, for a client that is shown out.
    func closeAfterFlush() {
        inputHasEnded = true
        isClosing = true
        work = []
        for subscription in resources.subscriptions.values {
            services.publisher.close(subscription, .connectionClosing)
        }
        abandonWork()
        flushAfterTurn()
    }
}
