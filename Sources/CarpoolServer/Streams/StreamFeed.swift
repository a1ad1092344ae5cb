internal import CarpoolJSON
internal import CarpoolSession

/// One reader of a stream that has it sent on its connection.
final class StreamFeed {
    /// The name that its notifications carry.
    let name: String
    /// The request that it reads.
    let request: String
    let reader: StreamReader
    private let record: RecordWriter
    private unowned let client: any Client

    init(name: String, request: String, reader: StreamReader, record: RecordWriter, client: any Client) {
        self.name = name
        self.request = request
        self.reader = reader
        self.record = record
        self.client = client
        reader.onReady = { [weak self] in self?.send() }
    }

    /// Sends what there is credit for, as long as the client reads what it is sent: what it does not take from its socket is not taken from
    /// the origin either.
    func send() {
        // To give a message may end the request, which calls here again and sends the end; then there is nothing left for this loop.
        while client.takesStreams, reader.give(to: { client.deliver($0, of: self) }) {}
        if reader.isOver { client.forget(self) }
    }

    /// The notification's parameters.
    func write(_ message: StreamMessage, to writer: inout JSONWriter) {
        writer.member("reader", name)
        record.write(message, of: request, as: reader.serializer, to: &writer)
    }
}
