internal import CarpoolRPC
internal import CarpoolSystem

// The memory that the connection uses.
extension Connection {
    /// The counted bytes.
    struct HeldMemory: Equatable {
        var input = 0
        var output = 0
    }

    /// Output that the client has not read, and answers of batches that wait for their last one.
    var unreadBytes: Int { output.count + batchBytes }

    /// Whether more may be answered before the client has read: its own limit, and a smaller one while all connections
    /// hold too much.
    ///
    /// Answers of batches do not count, because the client cannot read them: the last one may depend on what it sends,
    /// such as the answer to a callback or a piece of a body. They have a limit of their own (``batchRefusal``).
    var takesAnswers: Bool {
        let unread = output.count
        guard unread > ConnectionMemory.shortOutputBytes else { return true }
        return unread <= services.limits.unreadBytes
            && !services.memory.output.isOver(services.limits.totalUnreadBytes, for: uid)
    }

    /// The error for a further call of a batch when the collected answers take too much memory, of this connection or
    /// of all; `nil` if there is room.
    var batchRefusal: RPCError? {
        guard batchBytes > ConnectionMemory.shortOutputBytes else { return nil }
        if batchBytes >= services.limits.unreadBytes {
            return .answersTooLarge(limitBytes: services.limits.unreadBytes)
        }
        let total = services.limits.totalUnreadBytes
        return services.memory.output.isOver(total, for: uid) ? .answersTooLarge(limitBytes: total) : nil
    }

    /// Whether something that can wait elsewhere may be queued: at most so much, and less while all connections hold
    /// too much.
    func hasRoom(below bytes: Int) -> Bool {
        guard output.count > ConnectionMemory.uncountedBytes else { return true }
        return output.count <= bytes && !services.memory.output.isOver(services.limits.totalUnreadBytes, for: uid)
    }

    /// Updates the counted memory.
    func noteMemory() {
        let least = ConnectionMemory.uncountedBytes
        let new = HeldMemory(
            input: (framer.bufferedBytes >= least ? framer.heldBytes : 0) + parsingBytes,
            output: unreadBytes >= least ? unreadBytes : 0)
        guard new != held else { return }
        if held.input == 0 { inputSince = services.loop.now }
        if held.output == 0 { lastOutputProgress = services.loop.now }
        let old = held
        held = new
        services.memory.input.change(uid, by: new.input - old.input)
        services.memory.output.change(uid, by: new.output - old.output)
        if new.input > old.input { services.memory.inputDidGrow() }
        if new.output > old.output { services.memory.outputDidGrow() }
    }

    /// Whether it holds an incomplete message: not one that a thread reads, nor complete ones that wait for their turn.
    var hasHalfMessage: Bool { held.input > parsingBytes && framer.canDiscard }

    /// Discards the incomplete message and sends an error. Returns whether there was one.
    func discardMessage() -> Bool {
        guard framer.discard() else { return false }
        closeInBackground(resources.descriptors.takeAll())
        send(id: nil, error: .memoryFull(limitBytes: services.limits.totalInputBytes))
        noteMemory()
        return true
    }

    /// Releases memory that it does not need.
    func shrink() {
        framer.shrink()
        output.shrink()
    }
}
