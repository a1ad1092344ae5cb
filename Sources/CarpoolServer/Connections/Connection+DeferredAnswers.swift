// Answers with the record of a request. They are deferred while the client has unread output.
extension Connection {
    func answer(_ call: Call, about entry: RequestEntry, _ answer: RecordAnswer) {
        switch answer {
        case .written(let body): write(call, about: entry, body)
        case .computed(let body): compute(call, about: entry, body)
        }
    }

    private func write(_ call: Call, about entry: RequestEntry, _ body: @escaping () -> Void) {
        guard call.isWanted else { return }
        guard call.id != nil, !isHungUp, !deferredAnswers.isEmpty || !takesDeferredAnswers else { return body() }
        put(DeferredAnswer(entry: entry, write: body), of: call, into: \.deferredAnswers)
    }

    /// Starts the job now, or after other jobs of the connection, when the client has read what was sent before.
    private func compute(
        _ call: Call, about entry: RequestEntry, _ body: @escaping (_ done: @escaping () -> Void) -> Void
    ) {
        // A notification has no answer, and a closed connection reads none.
        guard call.isWanted, call.id != nil, !isHungUp else { return }
        let start = { [unowned self] in
            answerJobs.running += 1
            body { [weak self] in
                self?.answerJobs.running -= 1
                self?.flushAfterTurn()
            }
        }
        guard !answerJobs.waiting.isEmpty || !answerJobs.hasRoom || !takesDeferredAnswers else { return start() }
        put(DeferredAnswer(entry: entry, write: start), of: call, into: \.answerJobs.waiting)
    }

    private func put(
        _ answer: DeferredAnswer, of call: Call,
        into queue: ReferenceWritableKeyPath<Connection, NumberedQueue<DeferredAnswer>>
    ) {
        let number = self[keyPath: queue].append(answer)
        call.onCancel = { [weak self] in
            guard let self, self[keyPath: queue].remove(number) != nil else { return }
            services.requests.endDeferredAnswer(for: answer.entry)
        }
        // Last: to make room for it, the server may close this connection, which drops the answer and ends the call.
        services.requests.beginDeferredAnswer(for: answer.entry)
    }

    /// Whether another deferred answer may be written. Output below the counted minimum may always grow, so that a
    /// client that reads makes progress while others do not. Waiting events come before answers.
    var takesDeferredAnswers: Bool {
        guard !hasEvents || takesEvents else { return false }
        guard unreadBytes >= ConnectionMemory.uncountedBytes, !output.isEmpty else { return true }
        return unreadBytes <= services.limits.unreadBytes
            && !services.memory.output.isOver(services.limits.totalUnreadBytes, for: uid)
    }

    /// Writes the next deferred answer, if there is one and the client has read enough. Returns whether it did.
    func writeDeferredAnswer() -> Bool {
        guard !deferredAnswers.isEmpty || !answerJobs.waiting.isEmpty, takesDeferredAnswers else { return false }
        guard let next = deferredAnswers.popFirst() ?? (answerJobs.hasRoom ? answerJobs.waiting.popFirst() : nil) else {
            return false
        }
        services.requests.endDeferredAnswer(for: next.entry)
        next.write()
        return true
    }

    /// Drops all deferred answers. Their calls are ended when the resources of the connection are released.
    func dropDeferredAnswers() {
        while let next = deferredAnswers.popFirst() ?? answerJobs.waiting.popFirst() {
            services.requests.endDeferredAnswer(for: next.entry)
        }
    }
}
