internal import CCurl
internal import CarpoolSystem

/// The owner of multi handles. All methods may be called while libcurl is at work, and must not call it.
protocol MultiHandleDelegate: AnyObject {
    /// Whether deferrable work should wait for the next turn of the loop; reads the clock.
    var isTurnOld: Bool { get }
    /// libcurl is about to be called.
    func willCallLibcurl()
    /// ``MultiHandle/settle()`` is to be called when the turn ends.
    func settleAtTurnEnd(_ multi: MultiHandle)
    /// ``MultiHandle/serveQueued(_:)`` is to be called when the small transfers of this turn are served.
    func serveLater(_ connection: OriginConnection, _ bits: Int32)
    /// A connection that no transfer uses became readable.
    func idleConnectionBecameReadable(_ connection: OriginConnection)
    /// libcurl has finished the transfer with this value of `CURLOPT_PRIVATE`.
    func transferDidEnd(_ context: UnsafeMutableRawPointer, _ result: CURLcode)
}

/// libcurl's pool of connections for one partition, driven by the event loop.
final class MultiHandle: ReadinessHandler {
    let shardKey: ShardKey
    var key: Key { shardKey.key }
    private let raw: UnsafeMutableRawPointer
    private let configuration: TransportConfiguration
    private let loop: EventLoop
    private let connections: ConnectionTable
    /// Owns this handle, so it lives as long.
    private unowned let delegate: any MultiHandleDelegate
    /// Transfers added and not yet removed.
    private(set) var transfers = 0
    /// Origins whose connections are here.
    var origins = 0
    /// Whether libcurl has made progress during the current action.
    var hasProgressed = false
    /// Bytes of responses' heads that libcurl has passed on during the current action.
    var headBytes = 0
    /// Whether it is in the transport's list of handles to be settled when the turn ends.
    var needsSettling = false
    /// The dummy transfer that makes libcurl check its pool, while it runs.
    private var sweeping: UnsafeMutableRawPointer?
    private var needsSweep = false
    private var isClosed = false
    /// When libcurl's timer is due.
    private var deadline: MonotonicTime?
    /// Whether libcurl has set its timer during the present action.
    private var hasSetTimer = false
    /// Cancelled before this object is freed, so that it may hold it unowned.
    private var timer: Timer?
    private var armedDeadline = MonotonicTime(nanoseconds: .max)
    private var timerGuard = BusyLoopGuard()
    /// Sockets that libcurl uses itself, such as its resolver's. It closes them without a callback, so they are
    /// forgotten with their last interest.
    private var libcurlSockets: Set<Int32> = []

    /// Maximum number of rounds of expired timers in one turn: enough for a request to be sent at once, too few to
    /// block the loop.
    private static let roundsPerTurn = 4

    /// Creates an empty pool; `nil` if memory is out.
    init?(
        shardKey: ShardKey, configuration: TransportConfiguration, loop: EventLoop, connections: ConnectionTable,
        delegate: any MultiHandleDelegate
    ) {
        guard let raw = curl_multi_init() else { return nil }
        self.shardKey = shardKey
        self.raw = raw
        self.configuration = configuration
        self.loop = loop
        self.connections = connections
        self.delegate = delegate
        configure()
        timer = Timer { [unowned self] in scheduleSettle() }
    }

    deinit { close() }

    /// Closes all connections; no transfer may be added afterwards. Needed where there are connections, since they,
    /// their pools and this handle keep each other alive. Must not be called from a callback.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let timer { loop.cancel(timer) }
        // Closing the pool must not call back into an object that is going away.
        CCurl_multi_set_socket(raw, nil)
        CCurl_multi_set_timer(raw, nil)
        for descriptor in libcurlSockets { loop.forget(descriptor) }
        endSweep()
        curl_multi_cleanup(raw)
    }

    private func configure() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        CCurl_multi_set_socket(raw, socketInterestChanged)
        CCurl_multi_set_pointer(raw, CURLMOPT_SOCKETDATA, context)
        CCurl_multi_set_timer(raw, timerChanged)
        CCurl_multi_set_pointer(raw, CURLMOPT_TIMERDATA, context)
        // By default libcurl keeps four idle connections for each running transfer: almost none when they come one
        // by one.
        CCurl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, configuration.connections)
        // The admission queue keeps the limits; those of libcurl, which does not know which transfers are paused, are
        // only upper bounds. But how many connections a server needs that takes few streams on each, only libcurl
        // knows.
        let paused = configuration.pausedTransfers
        let perHost =
            key.httpProtocol == .multiplexed
            ? configuration.connectionsPerHostAndClient
            : max(configuration.connectionsPerHost, configuration.longConnectionsPerHost) + paused
        CCurl_multi_set_long(raw, CURLMOPT_MAX_HOST_CONNECTIONS, perHost)
        CCurl_multi_set_long(raw, CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.connections + paused)
        CCurl_multi_set_long(raw, CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.streamsPerConnection)
        let pipelining = key.httpProtocol == .multiplexed ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING
        CCurl_multi_set_long(raw, CURLMOPT_PIPELINING, pipelining)
    }

    // MARK: Transfers

    /// Adds a transfer, which is kept alive until it is removed. Returns `nil`, or why libcurl refused it.
    func add(_ transfer: AnyObject, _ easy: EasyHandle) -> String? {
        let code = curl_multi_add_handle(raw, easy.raw)
        guard code == CURLM_OK else { return String(cString: curl_multi_strerror(code)) }
        _ = Unmanaged.passRetained(transfer)
        transfers += 1
        scheduleSettle()
        return nil
    }

    /// Removes a transfer, finished or not. Must not be called from a callback.
    func remove(_ transfer: AnyObject, _ easy: EasyHandle) {
        curl_multi_remove_handle(raw, easy.raw)
        transfers -= 1
        scheduleSettle()
        Unmanaged.passUnretained(transfer).release()
    }

    /// Resumes a transfer that was paused by its write callback.
    ///
    /// libcurl passes it the bytes that it has kept at once. If the answer is to pause again, sending stays paused
    /// too: libcurl 8.14 would otherwise read on, as if only sending was resumed, and drop what it keeps if the
    /// server has closed the connection before the end of the body.
    /// - Parameter isPausedAgain: whether the answer to those bytes was to pause.
    func resume(_ easy: EasyHandle, isPausedAgain: () -> Bool) {
        delegate.willCallLibcurl()
        curl_easy_pause(easy.raw, CURLPAUSE_SEND)
        if !isPausedAgain() { curl_easy_pause(easy.raw, CURLPAUSE_CONT) }
        readMessages()
        scheduleSettle()
    }

    /// Closes dead and old connections when the turn ends. May be called from a callback.
    func sweepAtTurnEnd() {
        needsSweep = true
        scheduleSettle()
    }

    /// Makes libcurl check its pool, with a transfer that fails at once, without the network.
    private func sweep() {
        needsSweep = false
        guard sweeping == nil, let easy = curl_easy_init() else { return }
        sweeping = easy
        CCurl_set_text(easy, CURLOPT_URL, "http://sweep.invalid/")
        CCurl_set_text(easy, CURLOPT_UNIX_SOCKET_PATH, "/nonexistent")
        CCurl_set_text(easy, CURLOPT_PROXY, "")
        CCurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        CCurl_set_long(easy, CURLOPT_MAXAGE_CONN, configuration.idleSeconds)
        CCurl_set_long(easy, CURLOPT_MAXLIFETIME_CONN, configuration.lifetimeSeconds)
        if curl_multi_add_handle(raw, easy) != CURLM_OK { endSweep() }
    }

    private func endSweep() {
        guard let easy = sweeping else { return }
        sweeping = nil
        curl_multi_remove_handle(raw, easy)
        curl_easy_cleanup(easy)
    }

    // MARK: Driving libcurl

    func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        let connection = connections[fd]
        if readiness.contains(.unwatched) { return endUnwatched(fd, connection) }
        if let connection {
            if connection.isThrottled { return }
            if connection.interest.isEmpty { return idleDescriptorIsReady(connection) }
        }
        var bits: Int32 = 0
        if readiness.contains(.readable) { bits |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { bits |= CURL_CSELECT_OUT }
        // A response that has arrived since is read first: after it, sending may fail, and libcurl would never read
        // it.
        if bits == CURL_CSELECT_OUT, connection?.isSendingBody == true, connection?.hasInput == true {
            bits |= CURL_CSELECT_IN
        }
        if readiness.contains(.failed) { bits |= CURL_CSELECT_ERR | CURL_CSELECT_IN }
        guard let connection else {
            callSocketAction(fd, bits)
            return scheduleSettle()
        }
        if connection.isBulk { return delegate.serveLater(connection, bits) }
        serve(connection, bits)
    }

    /// The kernel does not report what happens on a descriptor: its transfers fail. libcurl's own are looked at from
    /// time to time.
    private func endUnwatched(_ fd: Int32, _ connection: OriginConnection?) {
        if let connection { connection.endUnwatched(loop.refusalCode) }
        callSocketAction(fd, CURL_CSELECT_IN | CURL_CSELECT_OUT)
        scheduleSettle()
    }

    /// A connection without interest is ready: it is idle, or its transfer is paused.
    private func idleDescriptorIsReady(_ connection: OriginConnection) {
        if connection.hasUsedItsShare { return }
        loop.setInterest([], for: connection.descriptor, handler: self)
        if connection.isIdle { delegate.idleConnectionBecameReadable(connection) }
    }

    /// Serves a connection that has waited for its share of a turn.
    func serveQueued(_ connection: OriginConnection) {
        connection.isQueued = false
        let bits = connection.readyBits
        connection.readyBits = 0
        guard connections[connection.descriptor] === connection, !connection.isThrottled, !connection.interest.isEmpty
        else { return }
        serve(connection, bits)
    }

    /// Reads what has arrived over a connection that sends a body, and sends nothing meanwhile: if the peer has closed
    /// it after its response, sending would fail before libcurl shows whether that is complete.
    func read(_ connection: OriginConnection) {
        guard connections[connection.descriptor] === connection else { return }
        SendingHold.begin(connection.descriptor)
        callSocketAction(connection.descriptor, CURL_CSELECT_IN)
        SendingHold.end()
        if connections[connection.descriptor] === connection { connection.sender?.connectionWasRead() }
    }

    private func serve(_ connection: OriginConnection, _ bits: Int32) {
        let before = connection.moved
        var hasProgressed = false
        if connection.sender == nil || bits & CURL_CSELECT_IN == 0 {
            callSocketAction(connection.descriptor, bits)
        } else {
            read(connection)
            hasProgressed = self.hasProgressed
            if bits != CURL_CSELECT_IN, connection.sender != nil, connections[connection.descriptor] === connection {
                callSocketAction(connection.descriptor, bits)
            }
        }
        hasProgressed = hasProgressed || self.hasProgressed
        scheduleSettle()
        connection.isBulk = connection.moved &- before >= TurnBudget.bulkBytes
        guard connections[connection.descriptor] === connection else { return }
        let delay = connection.busyLoopGuard.delayAfterCall(hasProgressed: hasProgressed)
        if delay > 0 { throttle(connection, milliseconds: delay) }
    }

    /// Runs expired timers at once, for a transfer that was resumed and whose bytes count in this turn.
    func runNow() {
        if let due = deadline, due <= loop.now { runTimeouts() }
    }

    /// Runs expired timers and arms the timer. Called when a turn ends.
    func settle() {
        needsSettling = false
        guard !isClosed else { return }
        if needsSweep { sweep() }
        for _ in 0..<MultiHandle.roundsPerTurn {
            guard let due = deadline, due <= loop.now else { break }
            runTimeouts()
            if delegate.isTurnOld { break }
        }
        // Only ever moved forward: libcurl's deadline changes with every request, and one wake-up too many costs
        // less.
        guard let deadline, let timer, !timer.isArmed || deadline < armedDeadline else { return }
        armedDeadline = deadline
        loop.arm(timer, at: deadline)
    }

    private func scheduleSettle() { delegate.settleAtTurnEnd(self) }

    private func runTimeouts() {
        hasSetTimer = false
        deadline = nil
        callSocketAction(CURL_SOCKET_BAD, 0)
        if !hasSetTimer {
            // libcurl does not repeat a timeout that it has set before; if we were early by its clock, it must be
            // asked.
            var milliseconds = -1
            if curl_multi_timeout(raw, &milliseconds) == CURLM_OK { setTimer(milliseconds) }
        }
        let delay = timerGuard.delayAfterCall(hasProgressed: hasProgressed)
        if delay > 0, let next = deadline { deadline = max(next, loop.now.advanced(milliseconds: delay)) }
    }

    private func callSocketAction(_ descriptor: Int32, _ bits: Int32) {
        var running: Int32 = 0
        hasProgressed = false
        headBytes = 0
        delegate.willCallLibcurl()
        ReceiveLimit.begin(microseconds: TurnBudget.actionMicroseconds)
        curl_multi_socket_action(raw, descriptor, bits, &running)
        ReceiveLimit.end()
        readMessages()
    }

    private func readMessages() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(raw, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            // Copied first: the message dies when its handle is removed.
            let result = CCurl_message_result(message)
            hasProgressed = true
            if let context = CCurl_get_private(easy) {
                delegate.transferDidEnd(context, result)
            } else {
                endSweep()
            }
        }
    }

    /// Removes the interest in a socket for a while, because its events make no progress.
    private func throttle(_ connection: OriginConnection, milliseconds: Int) {
        connection.isThrottled = true
        loop.setInterest([], for: connection.descriptor, handler: self)
        let timer = Timer { [weak self] in
            connection.isThrottled = false
            guard let self, connections[connection.descriptor] === connection else { return }
            loop.setInterest(connection.interest, for: connection.descriptor, handler: self)
        }
        loop.arm(timer, afterMilliseconds: milliseconds)
    }

    // MARK: Callbacks; nothing here may call libcurl

    fileprivate func setInterest(_ what: Int32, for descriptor: Int32) {
        let interest = Interest(poll: what)
        guard let connection = connections[descriptor], connection.pool.multi === self else {
            return setLibcurlInterest(interest, for: descriptor)
        }
        connection.interest = interest
        // A transfer that is resumed soon needs its registration then; this saves two system calls.
        if interest.isEmpty, connection.hasUsedItsShare { return }
        if !connection.isThrottled { loop.setInterest(interest, for: descriptor, handler: self) }
    }

    private func setLibcurlInterest(_ interest: Interest, for descriptor: Int32) {
        if interest.isEmpty {
            // The number may belong to another socket by now, if libcurl reports this late.
            if libcurlSockets.remove(descriptor) != nil { loop.forget(descriptor) }
        } else {
            libcurlSockets.insert(descriptor)
            loop.setInterest(interest, for: descriptor, handler: self)
        }
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        hasSetTimer = true
        switch milliseconds {
        case ..<0: deadline = nil
        case 0: deadline = loop.now
        // libcurl truncates to milliseconds, and the turn has taken some time: count from now, and one more.
        default: deadline = MonotonicTime.read().advanced(milliseconds: milliseconds &+ 1)
        }
    }
}

private func socketInterestChanged(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: Int32, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().setInterest(what, for: descriptor)
    return 0
}

private func timerChanged(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
    return 0
}
