internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// `request.*`: makes requests, waits for them and ends them.
struct RequestHandlers {
    let requests: RequestService
    let callFiles: CallFileService
    let subscriptions: SubscriptionService

    var table: [String: Handler] {
        [
            "request.submit": submit, "request.perform": perform, "request.get": get, "request.wait": wait,
            "request.response": response, "request.list": list, "request.resume": resume, "request.suspend": suspend,
            "request.set_priority": setPriority, "request.output": output,
            "request.cancel": cancel, "request.curl": curl, "request.dismiss": dismiss,
        ]
    }

    private func submit(_ call: Call) throws(RPCError) -> Answer {
        try withFiles(of: call) { files throws(RPCError) in try submit(call, files) }
    }

    /// Opens the files of a call, then runs it. Without opening, if its idempotency key is known: then nothing is sent.
    private func withFiles(
        of call: Call, _ carryOut: @escaping (CallFiles) throws(RPCError) -> Answer
    ) throws(RPCError) -> Answer {
        if call.params["key"] != nil, try entry(forKeyOf: call) != nil { return try carryOut(callFiles.noFiles) }
        // Before a thread opens files: a daemon that ends may end before it has.
        guard requests.isServing() else { throw .draining }
        return try callFiles.withFiles(
            of: call, within: { () throws(RPCError) in try requests.limit(of: call) }, carryOut)
    }

    private func submit(_ call: Call, _ files: CallFiles) throws(RPCError) -> Answer {
        let events = try InlineEvents(call, subscriptions)
        if let known = try entry(forKeyOf: call) {
            let subscription = follow(known, events, call, waitsForAnswer: true)
            return .result { write(submitted: known, subscription, deduplicated: true, to: &$0) }
        }
        let entry = try requests.make(call, files, isKept: true, isDetached: true)
        askForOutput(of: entry.request, call)
        let subscription = follow(entry, events, call, waitsForAnswer: true)
        start(entry, call)
        return .result { write(submitted: entry, subscription, deduplicated: false, to: &$0) }
    }

    private func write(
        submitted entry: RequestEntry, _ subscription: String?, deduplicated: Bool, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.member("request", entry.request.id)
        writer.member("state", entry.request.state.rawValue)
        writer.member("cursor", subscriptions.publisher.cursor)
        writer.member("sub", subscription)
        if deduplicated { writer.member("deduplicated", true) }
        writer.endObject()
    }

    private func perform(_ call: Call) throws(RPCError) -> Answer {
        try withFiles(of: call) { files throws(RPCError) in try perform(call, files) }
    }

    private func perform(_ call: Call, _ files: CallFiles) throws(RPCError) -> Answer {
        let (level, events) = (RecordLevel(call), try InlineEvents(call, subscriptions))
        if let known = try entry(forKeyOf: call) {
            let subscription = follow(known, events, call, waitsForAnswer: false)
            return waitForEnd(ofKeyed: known, call, level, subscription)
        }
        let holds = call.params["hold_for_headers"]?.bool == true
        let hasKey = call.params["key"] != nil
        let predecessor = call.params["after"].flatMap(RPCID.init)
        if let predecessor { try check(predecessor, of: call) }
        let entry = try requests.make(call, files, isKept: holds || hasKey, isDetached: hasKey)
        askForOutput(of: entry.request, call)
        let subscription = follow(entry, events, call, waitsForAnswer: false)
        if holds {
            answer(call, whenHeadersReceived: entry, level, subscription)
            start(entry, call, after: predecessor)
            return .pending
        }
        answer(call, whenFinished: entry, level, subscription, dismissing: !entry.isKept)
        start(entry, call, after: predecessor)
        return .pending
    }

    /// Refuses a call that follows one which is neither under way nor the last one that has succeeded.
    private func check(_ predecessor: RPCID, of call: Call) throws(RPCError) {
        guard !isUnderWay(predecessor, before: call) else { return }
        guard call.client.resources.sequence.hasSucceeded(predecessor) else { throw .requestSkipped }
    }

    /// Whether the call that another one follows has no answer yet. A call does not follow itself: its id may be that
    /// of an earlier call.
    private func isUnderWay(_ predecessor: RPCID, before call: Call) -> Bool {
        call.client.resources.calls[predecessor].map { $0 !== call } ?? false
    }

    /// Starts the request at once, or when the call that it follows has succeeded.
    private func start(_ entry: RequestEntry, _ call: Call, after predecessor: RPCID? = nil) {
        let request = entry.request
        let startsItself = setUp(request, call)
        guard let predecessor, isUnderWay(predecessor, before: call) else {
            guard startsItself else { return }
            // The time has begun with the call.
            if let start = call.waitedSince { request.beginTime(at: start) }
            request.resume()
            return
        }
        let follower = CallSequence.Follower {
            // One that was suspended meanwhile waits for request.resume.
            if startsItself, request.state == .initialized { request.resume() }
        } skip: {
            // One that request.resume has started meanwhile goes on, and one that was cancelled is answered.
            let isUnsent = request.state == .suspended && request.attempts.isEmpty
            guard request.state == .initialized || isUnsent else { return }
            call.fail(.requestSkipped)
            requests.abandon(entry, keepingPartialFile: true)
        }
        call.client.resources.sequence.add(follower, after: predecessor)
    }

    /// Sets the request up. Returns whether it is sent without a call of `request.resume` (SE-09, SE-10).
    private func setUp(_ request: Request, _ call: Call) -> Bool {
        request.setUp()
        let isManual = call.params["start"].map { $0.isString("manual") }
        call.releaseParameters()
        return !(isManual ?? !request.session.configuration.startsRequestsImmediately)
    }

    /// Answers with the head; `request.wait` returns the rest.
    private func answer(
        _ call: Call, whenHeadersReceived entry: RequestEntry, _ level: RecordLevel, _ subscription: String?
    ) {
        entry.request.whenHeadReceived { request in
            requests.lease(entry)
            noteOutcome(of: request, call)
            call.answer { writer in
                requests.record.write(request, level: level, atMost: call.client.recordBytes, to: &writer)
                RequestHandlers.add(subscription, to: &writer)
            }
        }
    }

    /// Adds the name of a subscription to the record that was just written.
    static func add(_ subscription: String?, to writer: inout JSONWriter) {
        guard let subscription else { return }
        writer.rewind(to: writer.count - 1)
        writer.member("sub", subscription)
        writer.endObject()
    }

    private func answer(
        _ call: Call, whenFinished entry: RequestEntry, _ level: RecordLevel, _ subscription: String?, dismissing: Bool
    ) {
        let completion = entry.request.whenFinished { _ in
            guard requests.mustSpill(entry, for: call.client, level: level) else {
                return answer(call, entry, level, subscription, dismissing)
            }
            requests.spill(entry, within: requests.diskMilliseconds(of: entry.request)) {
                // The record of a cancelled call is kept: it is neither read nor dismissed.
                guard call.isWanted else { return }
                answer(call, entry, level, subscription, dismissing)
            }
        }
        call.onCancel = {
            entry.request.remove(completion: completion)
            // The call is cancelled, the request continues: its record is kept for a later call.
            requests.keep(entry)
        }
        guard !entry.isKept else { return }
        call.endRequest = {
            entry.request.remove(completion: completion)
            requests.abandon(entry, keepingPartialFile: true)
        }
    }

    /// Answers with the record of a request that another call has made under the same key.
    private func waitForEnd(
        ofKeyed entry: RequestEntry, _ call: Call, _ level: RecordLevel, _ subscription: String?
    ) -> Answer {
        let answerWithRecord = {
            noteOutcome(of: entry.request, call)
            answer(call, with: entry, level, subscription: subscription)
        }
        if entry.request.isFinished {
            answerWithRecord()
        } else {
            call.onCancel = requests.wait(for: entry, answerWithRecord)
        }
        return .pending
    }

    /// Notes whether the request of a call has succeeded so far, for the calls that follow it.
    private func noteOutcome(of request: Request, _ call: Call) {
        guard let id = call.id else { return }
        let status = request.error == nil ? request.response?.status : nil
        call.client.resources.sequence.note(status.map { $0 < 300 } ?? false, of: id)
    }

    private func answer(
        _ call: Call, _ entry: RequestEntry, _ level: RecordLevel, _ subscription: String?, _ dismissing: Bool
    ) {
        requests.lease(entry)
        entry.isRead = true
        noteOutcome(of: entry.request, call)
        let record = requests.record
        let limit = call.client.recordBytes
        call.answer { writer in
            record.write(entry.request, level: level, atMost: limit, to: &writer)
            RequestHandlers.add(subscription, to: &writer)
        }
        if dismissing { requests.dismiss(entry, keepingBody: true) }
    }

    /// The request that an idempotency key stands for, if it was used before, for the same parameters.
    private func entry(forKeyOf call: Call) throws(RPCError) -> RequestEntry? {
        guard let key = call.params["key"]?.string,
            let known = requests.registry.entry(of: call.client.identity, key: key)
        else { return nil }
        guard known.fingerprint == Fingerprint.parameterHash(of: call) else {
            throw .keyConflict(key: key, request: known.request.id)
        }
        return known
    }

    private func list(_ call: Call) throws(RPCError) -> Answer {
        let all = call.params["scope"]?.string == "all"
        let (identity, isAdmin) = (call.client.identity, call.client.role == .admin)
        let (state, session) = (call.params["state"]?.string, call.params["session"]?.string)
        let after = try ListPage.place(of: call, radix: 36)
        let limit = call.params["limit"]?.int ?? 100
        let page = requests.registry.page(of: all ? nil : identity, after: after, limit: limit) { entry in
            (!all || isAdmin || entry.client.uid == identity.uid)
                && (state == nil || entry.request.state.rawValue == state)
                && (session == nil || entry.request.session.name == session)
        }
        let room = call.client.recordBytes
        return .result { writer in
            writer.beginObject()
            writer.key("requests")
            let last = write(page.entries[...], for: identity, atMost: room, to: &writer)
            let next = last === page.entries.last ? page.next : last?.sequence
            writer.key("next")
            if let next { writer.string(String(next, radix: 36)) } else { writer.null() }
            writer.endObject()
        }
    }

    /// Writes as many as fit the client's line, but at least one. Returns the last of them.
    private func write(
        _ entries: ArraySlice<RequestEntry>, for reader: ClientIdentity, atMost room: Int,
        to writer: inout JSONWriter
    ) -> RequestEntry? {
        var last: RequestEntry?
        writer.beginArray()
        let start = writer.count
        for entry in entries {
            let before = writer.count
            write(entry, for: reader, to: &writer)
            guard last == nil || writer.count - start <= room else {
                writer.rewind(to: before)
                break
            }
            last = entry
        }
        writer.endArray()
        return last
    }

    /// Bytes of a URL in a list.
    private static let listedURLBytes = 2_045

    private func write(_ entry: RequestEntry, for reader: ClientIdentity, to writer: inout JSONWriter) {
        let request = entry.request
        let url = Redaction.withoutUserInformation(request.parameters.url)
        let room = RequestHandlers.listedURLBytes
        let shown = entry.client == reader ? url : Redaction.withoutSecrets(url, atLeast: room + 1)
        writer.beginObject()
        writer.member("request", request.id)
        writer.member("state", request.state.rawValue)
        writer.member("finished", request.isFinished)
        writer.member("session", request.session.name)
        writer.member("client", entry.clientName)
        if entry.client.uid != reader.uid { writer.member("uid", entry.client.uid) }
        writer.member("method", request.parameters.method.rawValue)
        writer.member("url", TruncatedText.of(shown, bytes: room))
        writer.member("status", request.response?.status)
        writer.member("error", request.error?.name)
        writer.member("created", time: entry.created)
        // Another user's tags may hold anything.
        if let tags = entry.tags, entry.client.uid == reader.uid {
            writer.key("tags")
            writer.raw(tags)
        }
        writer.endObject()
    }

    private func dismiss(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entry(of: call)
        requests.wait(for: { requests.abandon(entry, keepingPartialFile: false, then: $0) }) {
            call.answer { StateChange.write(true, state: "dismissed", to: &$0) }
        }
        return .pending
    }
}
