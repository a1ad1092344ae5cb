// Answers with records of requests that others wait for too: they are written as fast as the client reads.
extension Connection {
    func answer(_ call: Call, about entry: RequestEntry, _ answer: RecordAnswer) {
        switch answer {
        case .written(let body): write(call, about: entry, body)
        case .computed(let body): compute(call, about: entry, body)
        }
    }

    private func write(_ call: Call, about entry: RequestEntry, _ body: @escaping () -> Void) {
        guard call.isWanted else { return }
        guard call.id != nil, !isHungUp, !due.isEmpty || !takesDueAnswers else { return body() }
        put(DueAnswer(entry: entry, write: body), of: call, into: \.due)
    }

    /// Starts the job now, or after other jobs of the connection, when the client has read what was sent before.
    private func compute(
        _ call: Call, about entry: RequestEntry, _ body: @escaping (_ done: @escaping () -> Void) -> Void
    ) {
        // A notification has no answer, and a closed connection reads none.
        guard call.isWanted, call.id != nil, !isHungUp else { return }
        let start = { [unowned self] in
            computed.running += 1
            body { [weak self] in
                self?.computed.running -= 1
                self?.flushAfterTurn()
            }
        }
        guard !computed.waiting.isEmpty || !computed.hasRoom || !takesDueAnswers else { return start() }
        put(DueAnswer(entry: entry, write: start), of: call, into: \.computed.waiting)
    }

    private func put(
        _ answer: DueAnswer, of call: Call, into queue: ReferenceWritableKeyPath<Connection, NumberedQueue<DueAnswer>>
    ) {
        let number = self[keyPath: queue].append(answer)
        call.onCancel = { [weak self] in
            guard let self, self[keyPath: queue].remove(number) != nil else { return }
            services.requests.letGo(of: answer.entry)
        }
        // Last: to make room for it, the server may close this connection, which drops the answer and ends the call.
        services.requests.hold(answer.entry)
    }

    /// Whether another due answer may be written. Output below the counted minimum may always grow, so that a client
    /// that reads makes progress while others do not. Waiting events come before answers.
    var takesDueAnswers: Bool {
        guard !hasEvents || takesEvents else { return false }
        guard unreadBytes >= ConnectionMemory.uncountedBytes, !output.isEmpty else { return true }
        return unreadBytes <= services.limits.unreadBytes
            && !services.memory.output.isOver(services.limits.totalUnreadBytes, for: uid)
    }

    /// Writes the next of them, if there is one and the client takes it.
    func writeDueAnswer() -> Bool {
        guard !due.isEmpty || !computed.waiting.isEmpty, takesDueAnswers else { return false }
        guard let next = due.popFirst() ?? (computed.hasRoom ? computed.waiting.popFirst() : nil) else { return false }
        services.requests.letGo(of: next.entry)
        next.write()
        return true
    }

    /// Drops them; the calls are ended elsewhere.
    func dropDueAnswers() {
        while let next = due.popFirst() ?? computed.waiting.popFirst() { services.requests.letGo(of: next.entry) }
    }
}
