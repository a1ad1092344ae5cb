internal import CarpoolSession
internal import CarpoolSystem

/// The answer of a call that waits until its client has read more.
struct DueAnswer {
    let entry: RequestEntry
    let write: () -> Void
}

// Answers with records of requests that others wait for too: they are written as fast as the client reads.
extension Connection {
    /// Carries out a body that answers a call with a request's record: now, or when the client has read what was sent before.
    func answer(_ call: Call, about entry: RequestEntry, _ body: @escaping () -> Void) {
        guard call.isWanted else { return }
        guard call.id != nil, !isHungUp, !due.isEmpty || !takesDueAnswers else { return body() }
        let number = due.append(DueAnswer(entry: entry, write: body))
        call.onCancel = { [weak self] in
            guard let self, due.remove(number) != nil else { return }
            server.letGo(of: entry)
        }
        // Last: to make room for it, the server may close this connection, which drops the answer and ends the call.
        server.hold(entry)
    }

    /// Carries out a body that makes an answer in a job, and calls `done` when the call is answered or given up. Few are made at once, so that
    /// they wait as requests, and not as text, for a client that does not read.
    func answer(
        _ call: Call, about entry: RequestEntry, making body: @escaping (_ done: @escaping () -> Void) -> Void
    ) {
        answer(call, about: entry) { [self] in
            answersBeingMade += 1
            body { [weak self] in
                self?.answersBeingMade -= 1
                self?.flushAfterTurn()
            }
        }
    }

    /// As many as may be made at once.
    private static let answersMadeAtOnce = 4

    /// Whether one more of them may be written. Output below what is counted is always added to: a client that reads gets on while others do not.
    /// Events that have happened before go first.
    var takesDueAnswers: Bool {
        guard answersBeingMade < Connection.answersMadeAtOnce, !hasEvents || takesEvents else { return false }
        guard unreadBytes >= ConnectionMemory.uncountedBytes, !output.isEmpty else { return true }
        return unreadBytes <= server.limits.unreadBytes
            && !server.memory.output.isOver(server.limits.totalUnreadBytes, for: uid)
    }

    /// Writes the next of them, if there is one and the client takes it.
    func writeDueAnswer() -> Bool {
        guard !due.isEmpty, takesDueAnswers, let next = due.popFirst() else { return false }
        server.letGo(of: next.entry)
        next.write()
        return true
    }

    /// Drops them; the calls are ended elsewhere.
    func dropDueAnswers() {
        while let next = due.popFirst() { server.letGo(of: next.entry) }
    }
}

// The memory of dismissed requests whose answers are due.
extension Server {
    /// Notes that one more answer about a request is due.
    func hold(_ entry: RequestEntry) {
        entry.dueAnswers += 1
        delayedAnswers += 1
        noteMemory(of: entry)
    }

    /// Notes that an answer about a request is due no longer.
    func letGo(of entry: RequestEntry) {
        entry.dueAnswers -= 1
        delayedAnswers -= 1
        noteMemory(of: entry)
    }

    /// Counts a dismissed request as unread output of its user while answers about it are due, once, however many they are.
    func noteMemory(of entry: RequestEntry) {
        let bytes = entry.dueAnswers > 0 && entry.isDismissed ? entry.recordBytes : 0
        let more = bytes - entry.dueBytes
        guard more != 0 else { return }
        entry.dueBytes = bytes
        memory.output.change(entry.client.uid, by: more)
        if more > 0 { makeRoomForOutput() }
    }
}
