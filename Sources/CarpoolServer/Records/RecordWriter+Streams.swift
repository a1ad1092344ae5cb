internal import CarpoolJSON
internal import CarpoolSession

extension RecordWriter {
    /// The members that a message of a stream has, pushed or pulled.
    func write(
        _ message: StreamMessage, of request: String, as serializer: StreamSerializer, to writer: inout JSONWriter
    ) {
        write(
            StreamPlace(sequence: message.sequence, attempt: message.attempt, sizeBytes: message.sizeBytes), request,
            serializer, to: &writer)
        switch message.content {
        case .records(let records): write(records, serializer, to: &writer)
        case .failure(let error):
            writer.key("error")
            write(error, to: &writer)
        case .complete(let completion):
            writer.key("complete")
            write(completion, to: &writer)
        }
    }

    /// The members of an answer without bytes: the reader's position.
    func write(
        _ place: StreamPlace, _ request: String, _ serializer: StreamSerializer, to writer: inout JSONWriter
    ) {
        writer.member("request", request)
        writer.member("as", serializer.rawValue)
        writer.member("seq", place.sequence)
        writer.member("attempt", place.attempt)
        writer.member("size_bytes", place.sizeBytes)
    }

    private func write(
        _ records: [StreamRecord.Content], _ serializer: StreamSerializer, to writer: inout JSONWriter
    ) {
        switch serializer {
        case .bytes: writer.key("base64")
        case .text: writer.key("text")
        case .lines: writer.key("lines")
        case .jsonLines: writer.key("values")
        case .events: writer.key("events")
        }
        let isList = serializer != .bytes && serializer != .text
        if isList { writer.beginArray() }
        for record in records { write(record, to: &writer) }
        if isList { writer.endArray() }
    }

    private func write(_ record: StreamRecord.Content, to writer: inout JSONWriter) {
        switch record {
        case .bytes(let bytes): bytes.withUnsafeBytes { writer.base64($0) }
        case .text(let text): writer.string(text)
        case .json(let json): writer.raw(json.bytes)
        case .event(let event):
            writer.beginObject()
            writer.member("event", event.type)
            writer.member("data", event.data)
            writer.member("id", event.id)
            writer.member("retry_ms", event.retryMilliseconds)
            writer.endObject()
        }
    }

    private func write(_ completion: StreamCompletion, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("error")
        if let error = completion.error { write(error, to: &writer) } else { writer.null() }
        writer.member("state", completion.state.rawValue)
        writer.member("status", completion.status)
        writer.member("size_bytes", completion.sizeBytes)
        writer.endObject()
    }
}

/// The position of a stream's reader.
struct StreamPlace {
    /// The number of its last message.
    let sequence: Int
    /// The attempt that it is of.
    let attempt: Int
    /// The bytes that it took.
    let sizeBytes: Int
}
