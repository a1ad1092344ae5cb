internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

// Closing a connection, and releasing its resources.
extension Connection {
    /// Closes the connection at once: abandons its calls, cancels its dependent requests and removes its subscriptions,
    /// in slices if there are many.
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
        releaseResources()
        owner?.connectionDidClose(self)
    }

    /// Releases the resources of the connection.
    private func releaseResources() {
        isReleasingResources = true
        dropDeferredAnswers()
        guard !isScheduled, releaseResourcesSlice() else { return }
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
        } endSession: { [services, uid = profile.identity.uid] session in
            services.requests.sessions.end(session, of: uid)
        }
    }

    /// Releases a part of the resources. Returns whether there are more.
    func releaseResourcesSlice() -> Bool {
        var slice = InputSlice(since: .read())
        guard !resources.releaseSlice(release, until: { slice.isOver() }) else { return true }
        // Last, so that nothing is asked elsewhere for requests that have just been cancelled.
        services.callbacks.connectionCannotAnswer(number)
        isReleasingResources = false
        if isClosed { owner?.connectionDidReleaseResources(self) } else { flushAfterTurn() }
        return false
    }

    /// How long a closing connection waits for the client to read its last answers.
    private static let closingMilliseconds = 1_000

    /// Closes the connection after the answers of this turn are queued.
    func beginClosing() {
        services.loop.arm(Timer { [weak self] in self?.closeAfterFlush() }, afterMilliseconds: 0)
        services.loop.arm(Timer { [weak self] in self?.close() }, afterMilliseconds: Connection.closingMilliseconds)
    }

    /// Sends what is queued, then closes.
    func closeAfterFlush() {
        inputHasEnded = true
        isClosing = true
        work = []
        for subscription in resources.subscriptions.values {
            services.publisher.close(subscription, .connectionClosing)
        }
        releaseResources()
        flushAfterTurn()
    }
}
