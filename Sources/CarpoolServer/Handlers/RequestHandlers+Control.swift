internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

// Methods of an existing request.
extension RequestHandlers {
    func get(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entry(of: call)
        if entry.request.isFinished { entry.isRead = true }
        answer(call, with: entry, RecordLevel(call))
        return .pending
    }

    /// Asks the client of a call for a descriptor when there is something to write.
    func askForOutput(of request: Request, _ call: Call) {
        guard let output = request.parameters.output, output.isOnDemand else { return }
        output.onDemand = { [weak client = call.client, id = call.id, name = request.id] in
            client?.askForOutput(of: name, call: id)
        }
    }

    /// Passes the descriptor of a response's body.
    func output(_ call: Call) throws(RPCError) -> Answer {
        let index = call.params["fd"]?.int ?? 0
        return try callFiles.withFiles(CallFileNames(output: index), of: call) { files throws(RPCError) in
            let request = try requests.entry(of: call).request
            let output = request.parameters.output.flatMap { $0.needsDescriptor ? $0 : nil }
            if let output {
                let decoder = requests.decoder(for: call.client, files: files)
                output.take(try decoder.target(at: index, path: "params"))
            }
            return .result { StateChange.write(output != nil, state: request.state.rawValue, to: &$0) }
        }
    }

    func wait(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entry(of: call)
        guard !entry.request.isFinished else { return try get(call) }
        let level = RecordLevel(call)
        return waitForEnd(of: entry, call, level) { answer(call, with: $0, level) }
    }

    /// Returns the whole record; serializers of the call replace the request's values.
    func response(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entry(of: call)
        let serializers = try requests.decoder(for: call.client, files: callFiles.noFiles).serializers(
            call.params["serialize"])
        return waitForEnd(of: entry, call, .standard) { entry in
            guard !serializers.isEmpty else { return answer(call, with: entry, .full) }
            // The results are kept for this call alone, so they are not computed before its client can read them.
            call.client.answer(
                call, about: entry,
                .computed { done in
                    requests.pendingAnswers.delayed += 1
                    entry.request.serialize(by: serializers) {
                        requests.pendingAnswers.delayed -= 1
                        answer(call, with: entry, results: $0, then: done)
                    }
                })
        }
    }

    /// Answers with the record of a request, as soon as the client has room for it.
    func answer(_ call: Call, with entry: RequestEntry, _ level: RecordLevel, subscription: String? = nil) {
        let write = {
            requests.lease(entry)
            call.client.answer(
                call, about: entry,
                .written {
                    requests.lease(entry)
                    if entry.request.isFinished { entry.isRead = true }
                    call.answer { writer in
                        requests.writeRecord(of: entry, for: call.client, level: level, to: &writer)
                        RequestHandlers.add(subscription, to: &writer)
                    }
                })
        }
        guard requests.mustSpill(entry, for: call.client, level: level) else { return write() }
        requests.spill(entry, then: write)
    }

    /// Answers with the whole record and what serializers have made of it for this call.
    private func answer(
        _ call: Call, with entry: RequestEntry, results: [SerializedResponse], then done: @escaping () -> Void
    ) {
        let write = {
            defer { done() }
            requests.lease(entry)
            guard call.isWanted else { return }
            entry.isRead = true
            let (record, limit) = (requests.record(of: entry, for: call.client), call.client.recordBytes)
            call.answer { record.write(entry.request, results: results, level: .full, atMost: limit, to: &$0) }
        }
        guard requests.mustSpill(entry, for: call.client, results: results, level: .full) else { return write() }
        requests.spill(entry, then: write)
    }

    /// Calls the body when the request is over; after the timeout the call is answered with the current record.
    private func waitForEnd(
        of entry: RequestEntry, _ call: Call, _ level: RecordLevel, _ body: @escaping (RequestEntry) -> Void
    ) -> Answer {
        guard !entry.request.isFinished else {
            body(entry)
            return .pending
        }
        let limit = requests.limits.longPollMilliseconds
        let milliseconds = min(call.params["timeout_ms"]?.int ?? limit, limit)
        // A notification is not answered, so it waits for nothing and uses no memory.
        guard call.id != nil else { return .pending }
        let loop = requests.loop
        var forget = {}
        let timer = Timer {
            forget()
            // If the request is over, the call gets the full answer.
            if entry.request.isFinished { body(entry) } else { answer(call, with: entry, level) }
        }
        forget = requests.wait(for: entry) {
            loop.cancel(timer)
            body(entry)
        }
        call.onCancel = { [forget] in
            loop.cancel(timer)
            forget()
        }
        loop.arm(timer, afterMilliseconds: milliseconds)
        return .pending
    }

    func resume(_ call: Call) throws(RPCError) -> Answer {
        let request = try requests.entry(of: call).request
        return change(request, request.resume())
    }

    func suspend(_ call: Call) throws(RPCError) -> Answer {
        let request = try requests.entry(of: call).request
        return change(request, request.suspend())
    }

    func setPriority(_ call: Call) throws(RPCError) -> Answer {
        let request = try requests.entry(of: call).request
        let priority = call.params["priority"]?.string.flatMap(TransferPriority.init(rawValue:)) ?? .normal
        return change(request, request.setPriority(priority))
    }

    func cancel(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entryToEnd(of: call)
        let request = entry.request
        // The token names a file of the request's own user.
        let wantsResumeData = call.params["resume_data"]?.bool == true && requests.mayRead(entry.client, call.client)
        let cause = call.params["error"].map { SessionError.clientRefused($0["message"]?.string ?? "") }
        let changed =
            cause.map { request.cancel(because: $0) } ?? request.cancel(producingResumeData: wantsResumeData)
        let state = request.state.rawValue
        let write: (inout JSONWriter) -> Void = { writer in
            writer.beginObject()
            writer.member("changed", changed)
            writer.member("state", state)
            if wantsResumeData { writer.member("resume_data", request.resumeData) }
            writer.endObject()
        }
        // The token counts what is in the file when the last byte is written, as that of the record does.
        guard wantsResumeData, !request.isFinished, call.id != nil else { return .result(write) }
        call.onCancel = requests.wait(for: entry) { call.answer(write) }
        return .pending
    }

    private func change(_ request: Request, _ changed: Bool) -> Answer {
        .result { StateChange.write(changed, state: request.state.rawValue, to: &$0) }
    }

    func curl(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entry(of: call)
        let request = entry.request
        let redirect = request.parameters.options.redirect.value
        let limit = call.client.recordBytes
        let reveals = call.params["reveal"]?.bool ?? false
        guard !reveals || entry.client == call.client.identity else {
            throw .invalidParams(
                path: "params.reveal", message: "the request was made by another client",
                expected: "false: secrets are shown to the client that made the request alone")
        }
        return .result { writer in
            writer.beginObject()
            let made = request.hasReleasedBody || request.isBeingPrepared ? nil : request.urlRequest
            let text = made.map { made in
                var shown = made
                shown.fields = request.shown(made.fields)
                return CurlDescription.text(
                    for: shown, credential: request.parameters.credential(for: made.url.origin),
                    cookies: request.sentCookies, reveal: reveals,
                    // The session's was set by another program, or is in a file.
                    revealsProxy: reveals && request.parameters.options.proxy.isGiven, redirect: redirect)
            }
            if let text, Array(text.utf8).withUnsafeBytes(JSONWriter.encodedLength(ofText:)) <= limit {
                writer.member("curl", text)
            } else {
                writer.key("curl")
                writer.null()
                writer.member("reason", RequestHandlers.reasonForNoLine(request, isTooLong: text != nil))
            }
            writer.endObject()
        }
    }

    private static func reasonForNoLine(_ request: Request, isTooLong: Bool) -> String {
        if isTooLong { return "its body is too long for a line of this connection" }
        if request.hasReleasedBody {
            return "its body was too large to keep; call request.curl before the request has finished"
        }
        if request.isBeingPrepared { return "it is still being created; call again" }
        return request.error?.message ?? "the request is not created before it is resumed"
    }
}

extension RecordLevel {
    /// The level that a call asks for.
    init(_ call: Call) {
        self = call.params["detail"]?.string.flatMap(RecordLevel.init(rawValue:)) ?? .standard
    }
}
