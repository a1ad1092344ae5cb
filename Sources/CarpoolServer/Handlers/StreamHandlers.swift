internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// `request.read`, `request.attach` and `request.credit`: readers of streams.
struct StreamHandlers {
    let requests: RequestService
    let streams: StreamService

    var table: [String: Handler] {
        ["request.read": read, "request.attach": attach, "request.credit": credit]
    }

    /// The stream that a call names, if there is something to read, or will be.
    private func stream(of entry: RequestEntry) throws(RPCError) -> ResponseStream {
        let request = entry.request
        guard let stream = request.stream else {
            throw .wrongState(
                request: request.id, state: request.parameters.kind.rawValue, expected: "a request of kind stream")
        }
        guard !stream.isDiscarded else { throw .bodyGone(request: request.id) }
        return stream
    }

    private func serializer(_ call: Call) -> StreamSerializer {
        call.params["as"]?.string.flatMap(StreamSerializer.init(rawValue:)) ?? .bytes
    }

    /// Maximum message size: the client's inline limit, at least 1 KiB.
    private func messageBytes(for client: any Client) -> Int { max(1_024, client.inlineBodyBytes) }

    // MARK: Pulling

    /// Default credit: bytes of the stream in one answer.
    private static let usualCredit = 65_536

    private func read(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entry(of: call)
        let pull = try pull(of: entry, call)
        // A notification has no answer that could carry the bytes.
        guard call.id != nil else { return .pending }
        pull.reader.setCredit(call.params["credit_bytes"]?.int ?? StreamHandlers.usualCredit)
        if pull.answer(call) { return .pending }
        let limit = requests.limits.longPollMilliseconds
        pull.wait(call, milliseconds: min(call.params["timeout_ms"]?.int ?? limit, limit))
        return .pending
    }

    private func pull(of entry: RequestEntry, _ call: Call) throws(RPCError) -> StreamPull {
        let stream = try stream(of: entry)
        let serializer = serializer(call)
        guard let pull = entry.pull else {
            let reader = stream.attach(serializer, messageBytes: messageBytes(for: call.client), delaysEnd: false)
            let pull = StreamPull(
                request: entry.request.id, reader: reader, record: requests.record, loop: requests.loop)
            entry.pull = pull
            return pull
        }
        guard pull.reader.serializer == serializer else {
            throw .invalidParams(
                path: "params.as", message: "the stream is read as \(pull.reader.serializer.rawValue) already",
                expected: "\"\(pull.reader.serializer.rawValue)\"")
        }
        guard !pull.isWaiting else {
            throw .wrongState(
                request: entry.request.id, state: "being read", expected: "one request.read after the other")
        }
        return pull
    }

    // MARK: Pushing

    private func attach(_ call: Call) throws(RPCError) -> Answer {
        let client = call.client
        let entry = try requests.entry(of: call)
        let stream = try stream(of: entry)
        let ticket = try ticket(for: client)
        let reader = stream.attach(serializer(call), messageBytes: messageBytes(for: client))
        reader.grant(call.params["credit_bytes"]?.int ?? 0)
        let feed = StreamFeed(
            name: "d\(streams.nextNumber())", request: entry.request.id, reader: reader, record: requests.record,
            sink: client.outlet, budget: streams.budget, ticket: ticket)
        client.resources.feeds[feed.name] = feed
        call.answer { writer in
            writer.beginObject()
            writer.member("reader", feed.name)
            writer.member("request", feed.request)
            writer.member("as", reader.serializer.rawValue)
            writer.endObject()
        }
        // After the answer, so that the client knows the reader's name before its data.
        feed.send()
        return .pending
    }

    private func ticket(for client: any Client) throws(RPCError) -> QuotaLedger.Ticket {
        let limit = requests.limits.streamReadersPerConnection
        guard client.resources.feeds.count < limit else { throw .tooManyStreamReaders(ofConnection: limit) }
        do throws(Quota.Refusal) {
            return try streams.readerQuota.take(for: client.identity, requests.limits.streamReaderBounds)
        } catch {
            throw .tooManyStreamReaders(error)
        }
    }

    private func credit(_ call: Call) throws(RPCError) -> Answer {
        let entry = try requests.entry(of: call)
        let name = call.params["reader"]?.string
        let bytes = call.params["credit_bytes"]?.int ?? 0
        let feeds = call.client.resources.feeds.values.filter { feed in
            feed.request == entry.request.id && (name == nil || feed.name == name)
        }
        call.answer { StateChange.write(!feeds.isEmpty, state: entry.request.state.rawValue, to: &$0) }
        for feed in feeds {
            feed.reader.grant(bytes)
            feed.send()
        }
        return .pending
    }
}
