internal import CarpoolJSON
internal import CarpoolSession
internal import CarpoolSystem

/// A reader of a stream whose messages are sent on its connection: at once as far as the turn's ``DeliveryBudget``
/// allows, the rest in slices.
final class StreamFeed {
    /// The name that its notifications carry.
    let name: String
    /// The request that it reads.
    let request: String
    let reader: StreamReader
    private let record: RecordWriter
    private let budget: DeliveryBudget
    /// Its share of the quota of readers.
    private let ticket: QuotaLedger.Ticket
    private weak var sink: (any StreamSink)?
    /// Whether it is scheduled on the loop, to run in slices.
    private var isScheduled = false
    private var isSending = false
    /// Whether more may have arrived since sending began.
    private var hasMore = false

    init(
        name: String, request: String, reader: StreamReader, record: RecordWriter, sink: any StreamSink,
        budget: DeliveryBudget, ticket: QuotaLedger.Ticket
    ) {
        self.name = name
        self.request = request
        self.reader = reader
        self.record = record
        self.sink = sink
        self.budget = budget
        self.ticket = ticket
        reader.onReady = { [weak self] in self?.send() }
    }

    /// Sends messages as far as credit allows and the client reads: when its socket is full, nothing more is read from
    /// the origin either.
    func send() {
        hasMore = true
        // The end is sent before the request's record, however much of the turn is used.
        if reader.isAtEnd { return sendEnd() }
        guard !isScheduled, !isSending else { return }
        if let slice = budget.rest(), !sends(until: slice) { return }
        isScheduled = true
        // Not kept by the loop: a reader leaves the stream with its connection.
        budget.runLater { [weak self] in self?.sendSlice() ?? false }
    }

    private func sendEnd() {
        guard let sink, sink.takesStreams else { return }
        reader.deliver { send($0, to: sink) }
        if reader.isOver { sink.forget(feed: name) }
    }

    private func sendSlice() -> Bool {
        isScheduled = sends(until: budget.nextSlice())
        return isScheduled
    }

    /// Sends until nothing is left or the time is over. Returns whether there may be more.
    private func sends(until slice: TimeSlice) -> Bool {
        isSending = true
        defer { isSending = false }
        // Sending a message may end the request, or resume its transfer, which calls ``send()`` again.
        while hasMore, !reader.isOver, let sink, sink.takesStreams {
            hasMore = false
            let step = reader.deliver { send($0, to: sink) }
            if reader.isOver {
                sink.forget(feed: name)
                return false
            }
            if step != .nothing { hasMore = true }
            if hasMore, slice.isOver { return true }
        }
        return false
    }

    private func send(_ message: StreamMessage, to sink: any StreamSink) {
        sink.send(streamMessage: { write(message, to: &$0) })
    }

    /// Writes the members of the notification's parameters.
    private func write(_ message: StreamMessage, to writer: inout JSONWriter) {
        writer.member("reader", name)
        record.write(message, of: request, as: reader.serializer, to: &writer)
    }
}
