internal import CarpoolRPC
internal import CarpoolSystem

// What the connection holds of the daemon's memory.
extension Connection {
    /// What is counted of it.
    struct HeldMemory: Equatable {
        var input = 0
        var output = 0
    }

    /// Output that the client has not read, and answers of batches that wait for their last one.
    var unreadBytes: Int { output.count + batchBytes }

    /// Whether more may be answered before the client has read: its own limit, and a smaller one while all connections hold too much.
    ///
    /// Answers of batches do not count, because the client cannot read them: the last one may depend on what it sends, such as the answer to a
    /// callback or a piece of a body. They have a limit of their own (``batchRefusal``).
    var takesAnswers: Bool {
        let unread = output.count
        guard unread > ConnectionMemory.shortOutputBytes else { return true }
        return unread <= server.limits.unreadBytes
            && !server.memory.output.isOver(server.limits.totalUnreadBytes, for: uid)
    }

    /// Why a further call of a batch is not carried out: the answers that wait take too much, of this connection or of all.
    var batchRefusal: RPCError? {
        guard batchBytes > ConnectionMemory.shortOutputBytes else { return nil }
        if batchBytes >= server.limits.unreadBytes { return .answersTooLarge(limitBytes: server.limits.unreadBytes) }
        let total = server.limits.totalUnreadBytes
        return server.memory.output.isOver(total, for: uid) ? .answersTooLarge(limitBytes: total) : nil
    }

    /// Whether something that can wait elsewhere may be queued: at most so much, and less while all connections hold too much.
    func hasRoom(below bytes: Int) -> Bool {
        guard output.count > ConnectionMemory.uncountedBytes else { return true }
        return output.count <= bytes && !server.memory.output.isOver(server.limits.totalUnreadBytes, for: uid)
    }

    /// Brings the server's account in line with what it holds.
    func noteMemory() {
        let least = ConnectionMemory.uncountedBytes
        let new = HeldMemory(
            input: (framer.bufferedBytes >= least ? framer.heldBytes : 0) + awaitedBytes,
            output: unreadBytes >= least ? unreadBytes : 0)
        guard new != held else { return }
        if held.input == 0 { inputSince = server.loop.now }
        if held.output == 0 { outputMoved = server.loop.now }
        let old = held
        held = new
        server.memory.input.change(uid, by: new.input - old.input)
        server.memory.output.change(uid, by: new.output - old.output)
        if new.input > old.input { server.makeRoomForInput() }
        if new.output > old.output { server.makeRoomForOutput() }
    }

    /// Whether it holds a message that has not come whole: not one that a thread reads, nor whole ones that wait for their turn.
    var hasHalfMessage: Bool { held.input > awaitedBytes && framer.canDiscard }

    /// Gives up the message that has not come whole, and says so. Returns whether there was one.
    func discardMessage() -> Bool {
        guard framer.discard() else { return false }
        closeInBackground(resources.descriptors.takeAll())
        send(id: nil, error: .memoryFull(limitBytes: server.limits.totalInputBytes))
        noteMemory()
        return true
    }

    /// Gives back memory that it does not need.
    func shrink() {
        framer.shrink()
        output.shrink()
    }
}

extension Server {
    /// Gives up the messages that have waited longest, of the user who holds most, until all fit.
    func makeRoomForInput() {
        while let uid = memory.input.culprit(limits.totalInputBytes) {
            // What a thread reads is over soon.
            let oldest = connections.values.filter { $0.uid == uid && $0.hasHalfMessage }
                .min { $0.inputSince < $1.inputSince }
            guard let oldest, oldest.discardMessage() else { return }
            log.write(.warning, "half a message given up", [("client", "c-\(oldest.number)"), ("uid", String(uid))])
        }
    }

    /// Closes the connections that have taken nothing for longest, of the user who holds most, when not reading from them is not enough.
    func makeRoomForOutput() {
        let limit = limits.totalUnreadBytes + limits.totalUnreadBytes / 4
        while memory.output.total > limit, let uid = memory.output.culprit(limits.totalUnreadBytes) {
            let holders = connections.values.filter { $0.uid == uid && $0.held.output > 0 }
            // One whose batches wait may well read: it comes last.
            let unread = holders.filter { $0.output.count > ConnectionMemory.shortOutputBytes }
            guard let stuck = (unread.isEmpty ? holders : unread).min(by: { $0.outputMoved < $1.outputMoved }) else {
                return
            }
            log.write(
                .warning, "closed: it does not read", [("client", "c-\(stuck.number)"), ("uid", String(uid))])
            stuck.close()
        }
    }

    /// Returns the memory of a burst to the system: at each tick while the burst goes on, and once more when it is over.
    func giveMemoryBack() {
        let isBurst = loop.turns &- lastTrim.turns >= Server.turnsOfABurst
        guard isBurst || lastTrim.wasBurst else { return }
        lastTrim = (loop.turns, isBurst)
        for connection in connections.values { connection.shrink() }
        requests.shrink()
        forgetWriter()
        recordCache.removeAll()
        Heap.giveBack()
    }

    /// After fewer turns than these there is nothing to return.
    private static let turnsOfABurst = 100
}
