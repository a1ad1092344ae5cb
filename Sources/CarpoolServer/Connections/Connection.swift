internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// Owns the connections.
protocol ConnectionOwner: AnyObject {
    /// The connection is closed; what it holds is released in slices.
    func connectionDidClose(_ connection: Connection)
    /// A closed connection has released everything.
    func connectionDidReleaseResources(_ connection: Connection)
}

/// One client's connection: bytes in, messages to the dispatcher, replies and events out. The only place that writes to
/// the socket.
///
/// It handles its messages in slices, one connection after the other, so that the calls of one client do not delay the
/// others. Messages that do not fit a slice wait in the framer, and nothing more is read from the socket before.
///
/// | life of a connection | `inputHasEnded` | `isHungUp` | `isClosing` | `isClosed` |
/// | --- | --- | --- | --- | --- |
/// | open | no | no | no | no |
/// | half closed: the client sends no more, and is answered | yes | no | no | no |
/// | hung up: remaining input is handled, nothing is sent | either | yes | either | no |
/// | closing: the daemon flushes the output, then closes | yes | no | yes | no |
/// | closed: `isReleasingResources` until all are released | either | either | either | yes |
final class Connection: ReadinessHandler, TurnObserver, SlicedWork {
    let profile: ClientProfile
    let role: Role
    let resources = ClientResources()
    /// When the client connected, in microseconds since 1970.
    let connected = WallClock.microseconds()
    private(set) var callCount = 0

    let fd: Int32
    /// The socket, open until ``close()``, even if the connection is still referenced then.
    var descriptor: FileDescriptor?
    let services: ConnectionServices
    private(set) weak var owner: (any ConnectionOwner)?
    var framer: MessageFramer
    var output = OutputQueue()
    /// Jobs that close descriptors of its client.
    var closing = 0
    /// Bytes received on the socket so far.
    private var received = 0
    var inputHasEnded = false
    /// Whether its last byte was read, so that its socket holds no descriptors.
    private(set) var hasReadEnd = false
    /// Both directions of the socket are closed: remaining input is still handled, and nothing is sent any more.
    private(set) var isHungUp = false
    /// Long work of its messages, the innermost last. No further message is handled before it is done.
    var work: [any SlicedWork] = []
    /// Whether it is scheduled on the loop, to run in slices.
    var isScheduled = false
    /// Whether the resources are being released.
    var isReleasingResources = false
    private var isFlushDue = false
    /// Sends events in slices, among many listeners.
    private(set) lazy var eventSlices = EventSlices()
    /// Answers that wait until the client has read more of its output.
    var deferredAnswers = NumberedQueue<DeferredAnswer>()
    var answerJobs = AnswerJobs()
    /// The size of the message that a worker parses; 0 if there is none.
    var parsingBytes = 0
    private var isParsing: Bool { parsingBytes > 0 }
    /// Whether messages that were read have not been handled yet.
    var hasMessages: Bool { !isClosed && (isScheduled || isParsing) }
    /// Answers of batches that wait for their last one.
    var batchBytes = 0
    /// The memory that is counted for it.
    var held = HeldMemory()
    var inputSince = MonotonicTime(nanoseconds: 0)  // of a large message of which a part is held
    /// The last time at which the client read output.
    var lastOutputProgress = MonotonicTime(nanoseconds: 0)
    var hasEvents = false
    var isClosed: Bool { !resources.isOpen }
    /// Whether the connection is closing: further calls are not answered.
    var isClosing = false
    /// Its share of the quota of connections, until it is closed.
    var ticket: QuotaLedger.Ticket?
    var cachedPathAccess = CachedPathAccess()

    init(
        number: Int, fd: consuming FileDescriptor, credentials: PeerCredentials, identity: ClientIdentity, role: Role,
        ticket: QuotaLedger.Ticket?, services: ConnectionServices, owner: any ConnectionOwner
    ) {
        profile = ClientProfile(
            number: number, credentials: credentials, identity: identity, maximumLineBytes: services.limits.lineBytes)
        self.fd = fd.raw
        descriptor = consume fd
        self.ticket = ticket
        self.role = role
        self.services = services
        self.owner = owner
        framer = MessageFramer(limits: FramingLimits(messageBytes: services.limits.messageBytes))
        services.loop.setInterest(.readable, for: self.fd, handler: self)
        resources.sequence.runInSlices = { [loop = services.loop] in loop.runInSlices($0) }
    }

    var callsUnderWay: Int { resources.calls.count }

    // MARK: Input

    func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        // Neither a call nor the end of the connection would be noticed.
        if readiness.contains(.unwatched) { return close() }
        if readiness.contains(.readable), takesInput, readInput(), handleMessages(since: services.loop.now) {
            schedule()
        }
        guard !isClosed else { return }
        noteMemory()
        if readiness.contains(.failed) { return hangUp() }
        if readiness.contains(.writable) { flush() }
    }

    /// Both directions are closed. Remaining input is handled first: a submitted request survives its connection.
    private func hangUp() {
        guard !isHungUp, !isClosed else { return }
        isHungUp = true
        // The kernel would report it in every turn.
        services.loop.forget(fd)
        output = OutputQueue()
        dropDeferredAnswers()
        if !isScheduled, handleLastInput() { schedule() }
    }

    /// Handles the remaining input of a disconnected client, then closes. Returns whether more is left for another
    /// slice.
    private func handleLastInput() -> Bool {
        repeat {
            if handleMessages(since: .read()) { return true }
            if isParsing { return false }
        } while !isClosed && !services.worker.hasTooManyToClose(uid) && readInput()
        close()
        return false
    }

    /// Whether to read more input: not before the previous input is handled, nor while the client has to read first.
    private var takesInput: Bool {
        !inputHasEnded && !isScheduled && !isParsing && takesDescriptorsIn && takesAnswers
    }

    /// Reads once per turn, so that a client that writes much does not block the others. Returns whether there was
    /// input.
    private func readInput() -> Bool {
        guard !inputHasEnded else { return false }
        var surplus: [Int32] = []
        let result = services.buffers.withReadBuffer { buffer in
            var came: [Int32] = []
            let result = Bytes.receive(fd, into: buffer, descriptors: &came)
            if case .bytes(let count) = result {
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                let last = bytes.lastIndex { $0 > UInt8(ascii: " ") } ?? 0
                surplus = resources.descriptors.add(came, upTo: received &+ last &+ 1)
                received &+= count
                framer.append(bytes)
            }
            return result
        }
        closeInBackground(surplus)
        switch result {
        case .bytes: return true
        case .wouldBlock: return false
        case .endOfFile:
            (inputHasEnded, hasReadEnd) = (true, true)
            if let event = framer.finish() { handle(event) }
            services.callbacks.connectionCannotAnswer(number)
            updateInterestOrClose()
        case .failed: close()
        }
        return false
    }

    /// Handles received messages until the slice is over or the client has to read first: one read may hold a thousand
    /// calls with large answers. Returns whether the slice was over; if the client has to read, ``flush()`` continues.
    private func handleMessages(since start: MonotonicTime) -> Bool {
        var slice = InputSlice(since: start)
        while !isClosed, !isClosing {
            if writeDeferredAnswer() {
                if slice.isOver() { return true }
                continue
            }
            guard !isParsing, takesAnswers else { return false }
            if let item = work.last {
                if !item.runSlice() { work.removeAll { $0 === item } }
            } else if let event = framer.next() {
                resources.descriptors.begin(lineEndingAt: received &- framer.bufferedBytes)
                handle(event)
            } else {
                return false
            }
            endDescriptors()
            // Most messages come alone; for them the clock is not read.
            if work.isEmpty, framer.bufferedBytes == 0 { return false }
            if slice.isOver() { return true }
        }
        return false
    }

    func run(_ item: any SlicedWork) { work.append(item) }

    /// Schedules the remaining messages for later turns of the loop.
    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        services.loop.runInSlices(self)
        updateInterestOrClose()
    }

    func runSlice() -> Bool {
        let hasMore =
            isReleasingResources
            ? releaseResourcesSlice() : isHungUp ? handleLastInput() : handleMessages(since: .read())
        isScheduled = hasMore || isReleasingResources
        updateInterestOrClose()
        return isScheduled
    }

    private func handle(_ event: FramerEvent) {
        callCount += 1
        switch event {
        case .failure(let error): send(id: nil, error: error)
        case .message(let text): read(text, of: nil)
        }
    }

    /// Continues with received messages after a worker has parsed a large one.
    func resumeInput() {
        if isHungUp {
            if !isScheduled, handleLastInput() { schedule() }
        } else if !isScheduled, handleMessages(since: services.loop.now) {
            schedule()
        }
        updateInterestOrClose()
    }

    // MARK: Output

    func send(id: RPCID?, error: RPCError) {
        services.buffers.withWriter { writer in
            Reply.write(id: id, error: error, to: &writer)
            writer.withBytes { send(message: $0) }
        }
    }

    /// The only place that queues output, and a descriptor with it if there is one.
    func send(message: UnsafeRawBufferPointer, passing passed: WorkerFile? = nil) {
        guard !isClosed, !isHungUp else { return }
        // Earlier events go first: no answer, question or stream message overtakes an event.
        takeEvents()
        if let passed { output.attach(passed) }
        output.append { framer.frame(message, into: &$0) }
        flushAfterTurn()
    }

    func flushAfterTurn() {
        guard !isFlushDue else { return }
        isFlushDue = true
        services.loop.afterTurn(self)
    }

    func turnDidEnd() {
        isFlushDue = false
        flush()
    }

    func flush() {
        guard !isHungUp, !isClosed else { return }
        takeEvents()
        let before = output.count
        if case .failed = output.flush(to: fd) { return hangUp() }
        if output.count < before { lastOutputProgress = services.loop.now }
        if isDrained { for watch in resources.watches.values { watch.send() } }
        if takesStreams { for feed in resources.feeds.values { feed.send() } }
        if !isScheduled, handleMessages(since: services.loop.now) { schedule() }
        updateInterestOrClose()
    }

    /// Updates the interest in the socket, and closes the connection when nothing is left to do.
    func updateInterestOrClose() {
        guard !isClosed, !isHungUp else { return }
        if inputHasEnded, !isScheduled, !isParsing, resources.isIdle, output.isEmpty { return close() }
        var interest: Interest = takesInput ? .readable : .hangup
        if !isFlushDue, !output.isEmpty || hasEvents && !eventSlices.areDue { interest.insert(.writable) }
        noteMemory()
        guard !isClosed else { return }
        services.loop.setInterest(interest, for: fd, handler: self)
    }
}

extension Connection: Client {
    var outlet: any ClientOutlet { self }

    func send(_ result: CallResult, of call: Call) {
        guard let id = call.id else { return }
        // A call that was refused as a duplicate is not the one that uses the id.
        if resources.calls[id] === call { resources.calls[id] = nil }
        if let batch = call.batch {
            batch.complete { Reply.write(id: id, result, to: &$0) }
        } else {
            services.buffers.withWriter { writer in
                Reply.write(id: id, result, to: &writer)
                writer.withBytes { send(message: $0, passing: call.passedDescriptor) }
            }
        }
        updateInterestOrClose()
    }
}

extension Connection: CallbackPeer {
    var canAnswer: Bool { !isClosed && !isClosing && !inputHasEnded && takesAnswers }

    func send(_ question: CallbackQuestion, number: Int, deadlineMilliseconds: Int) {
        services.buffers.withWriter { writer in
            question.write(
                number: number, deadlineMilliseconds: deadlineMilliseconds, bodyBytes: inlineBodyBytes,
                atMost: profile.maximumLineBytes, to: &writer)
            writer.withBytes { send(message: $0) }
        }
    }
}

// MARK: Streams

extension Connection: StreamSink {
    /// Unread output above which no stream messages are queued.
    private static let unreadStreamBytes = 262_144

    var takesStreams: Bool {
        !isClosed && !isHungUp && !isClosing && hasRoom(below: Connection.unreadStreamBytes)
    }

    func send(streamMessage write: (inout JSONWriter) -> Void) {
        services.buffers.withWriter { writer in
            Notification.write(data: write, to: &writer)
            writer.withBytes { send(message: $0) }
        }
    }

    func forget(feed name: String) {
        resources.feeds[name] = nil
        updateInterestOrClose()
    }
}

extension Connection: NotificationSink {
    var isDrained: Bool { !isClosed && !isClosing && output.isEmpty }

    func send(notification write: (inout JSONWriter) -> Void) {
        services.buffers.withWriter { writer in
            write(&writer)
            writer.withBytes { send(message: $0) }
        }
    }

    func askForOutput(of request: String, call: RPCID?) {
        send(notification: { Notification.write(outputNeededBy: request, call: call, to: &$0) })
    }
}
