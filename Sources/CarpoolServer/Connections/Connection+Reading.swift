internal import CarpoolRPC
internal import CarpoolSystem

// Messages: parsed, on the loop or by a thread, and dispatched.
extension Connection {
    /// Parses a message, or one of a batch, and dispatches it: at once if it is small, else after a thread has parsed
    /// it. Nothing else of the connection is handled before, so that its calls keep their order.
    func read(_ text: MessageText, of batch: Batch?) {
        let isInBatch = batch != nil
        guard text.bytes.count > ParsedInput.structureBytes else {
            return handle(RPCInput.parse(text, isInBatch: isInBatch), text.bytes.count, of: batch)
        }
        guard text.bytes.count <= ParsedInput.bytes else { return parseOnWorker(text, for: batch) }
        do throws(RPCError) {
            let text = try text.read()
            if text.isBatch && !isInBatch || text.structureBytes <= ParsedInput.structureBytes {
                handle(RPCInput.parse(text, isInBatch: isInBatch), text.bytes.count, of: batch)
            } else {
                parseOnWorker(text, for: batch)
            }
        } catch {
            handle(.failure(error), text.bytes.count, of: batch)
        }
    }

    private func parseOnWorker(_ text: MessageText, for batch: Batch?) {
        let (catalogue, isInBatch) = (services.dispatcher.catalogue, batch != nil)
        let bytes = text.bytes.count
        parsingBytes = bytes
        // At most one such job per connection.
        services.worker.runAlways(
            for: identity.workerShare.computation, { Handover(ParsedInput(text, isInBatch: isInBatch, catalogue)) },
            then: { [self] in take($0.value, bytes, of: batch) })
        // Nothing is read from the socket meanwhile.
        updateInterestOrClose()
    }

    private func take(_ parsed: ParsedInput, _ bytes: Int, of batch: Batch?) {
        parsingBytes = 0
        guard !isClosed, !isClosing else { return }
        switch parsed {
        case .request(let request, let call): handle(request, bytes, parsed: call, batch: batch)
        case .input(let input): handle(input, bytes, of: batch)
        }
        endDescriptors()
        resumeInput()
    }

    /// - Parameter bytes: how long the message was.
    private func handle(_ input: RPCInput, _ bytes: Int, of batch: Batch?) {
        switch input {
        case .single(let message): handle(message, bytes, batch: batch)
        case .batch(let messages): begin(messages)
        case .failure(let error): handle(.invalid(nil, error), bytes, batch: batch)
        }
    }

    private func begin(_ messages: RPCBatch) {
        let batch = Batch(grow: { [unowned self] in batchBytes += $0 }) { [unowned self] bytes in
            bytes.withUnsafeBytes { send(message: $0) }
        }
        run(BatchRun(messages, batch: batch) { [unowned self] in read($0, of: $1) })
    }

    // MARK: Carrying out

    private func handle(_ message: RPCMessage, _ bytes: Int, batch: Batch?) {
        switch message {
        case .invalid(let id, let error): refuse(id, error, batch)
        case .invalidResponse(let id, let error):
            refuse(id, error, batch)
            services.callbacks.refuseAnswer(id, from: number, error)
        case .response(let response): services.callbacks.answer(response, from: number)
        case .request(let request): handle(request, bytes, parsed: nil, batch: batch)
        }
    }

    private func refuse(_ id: RPCID?, _ error: RPCError, _ batch: Batch?) {
        guard let batch else { return send(id: id, error: error) }
        batch.add { Reply.write(id: id, error: error, to: &$0) }
    }

    private func handle(_ request: RPCRequest, _ bytes: Int, parsed: ParsedCall?, batch: Batch?) {
        if let batch, let id = request.id {
            if let error = batchRefusal { return batch.add { Reply.write(id: id, error: error, to: &$0) } }
            batch.expect()
        }
        let isDuplicate = request.id.map { resources.calls[$0] != nil } ?? false
        let call = services.dispatcher.dispatch(
            request, parsed: parsed, messageBytes: bytes, from: self, batch: batch, underWay: callsUnderWay,
            limit: services.limits.callsPerConnection, isDuplicate: isDuplicate)
        if let id = call.id, !call.isAnswered { resources.calls[id] = call }
    }
}
