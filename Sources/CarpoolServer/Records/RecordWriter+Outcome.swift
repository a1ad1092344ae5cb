internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

// The outcome of a request: its failure, or its values.
extension RecordWriter {
    /// Bytes of a text that a failure carries.
    private static let detailBytes = 1_024

    /// Whether the request has succeeded, or why not.
    func writeOutcome(
        _ failure: SessionError?, _ results: [SerializedResponse], _ detail: Detail, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.member("ok", failure == nil)
        if let failure {
            writer.key("error")
            write(failure, to: &writer)
        }
        write(results, detail, to: &writer)
        writer.endObject()
    }

    /// The one form of a failure, here and in events.
    func write(_ error: SessionError, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("code", error.code)
        writer.member("name", error.name)
        writer.member("message", shown(error.message))
        writer.member("retryable", error.isRetryable)
        if let hint = error.hint { writer.member("hint", hint) }
        if let code = error.urlErrorCode { writer.member("url_error_code", code) }
        if let transport = error.transport {
            if let timeout = transport.timeout { writer.member("timeout", timeout) }
            if let wait = transport.wait {
                writer.member("queued", true)
                writer.member("position", wait.position)
                writer.member("waited_for", wait.obstacle)
            }
            if let code = transport.curlCode {
                writer.key("curl")
                writer.beginObject()
                writer.member("code", Int(code))
                if let text = transport.curlText { writer.member("text", text) }
                writer.endObject()
            }
            if let code = transport.systemCode { writer.member("errno", Int(code)) }
        }
        if !error.details.isEmpty {
            writer.key("details")
            write(error.details, to: &writer)
        }
        writer.endObject()
    }

    private func write(_ details: [SessionError.Detail], to writer: inout JSONWriter) {
        writer.beginObject()
        for detail in details {
            writer.key(detail.name)
            switch detail.value {
            case .boolean(let value): writer.bool(value)
            case .facts(let facts): write(facts, to: &writer)
            case .string(let text): writer.string(TruncatedText.of(shown(text), bytes: RecordWriter.detailBytes))
            case .integer(let number): writer.integer(number)
            case .strings(let texts):
                writer.beginArray()
                for text in texts { writer.string(shown(text)) }
                writer.endArray()
            case .error(let error): write(error, to: &writer)
            }
        }
        writer.endObject()
    }

    // MARK: Values

    /// The serializers' results: the first one's value, and all of them if there are several.
    private func write(_ results: [SerializedResponse], _ detail: Detail, to writer: inout JSONWriter) {
        guard let first = results.first else { return }
        if case .success(let value) = first.result { write("value", value, detail, to: &writer) }
        guard results.count > 1 else { return }
        writer.key("values")
        writer.beginArray()
        for result in results { write(result, detail, to: &writer) }
        writer.endArray()
    }

    /// One serializer's work.
    func write(_ result: SerializedResponse, _ detail: Detail, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("serializer", result.serializer)
        writer.member("ok", result.error == nil)
        writer.member("duration_us", result.durationMicroseconds)
        switch result.result {
        case .success(let value): write("value", value, detail, to: &writer)
        case .failure(let error):
            writer.key("error")
            write(error, to: &writer)
        }
        writer.endObject()
    }

    /// A value, or the word that it would not fit the line: then the body, which is in a file, has all of it.
    private func write(
        _ name: StaticString, _ value: SerializedValue, _ detail: Detail, to writer: inout JSONWriter
    ) {
        guard RecordWriter.leastBytes(of: value) <= detail.valueBytes else { return writer.member("truncated", true) }
        let before = writer.count
        switch value {
        case .none: return
        case .omitted: return writer.member("truncated", true)
        case .data(let bytes):
            writer.key(name)
            writer.structured(.data(bytes))
        case .string(let text): writer.member(name, text)
        case .json(let json):
            writer.key(name)
            writer.value(json)
        case .jsonText(let text):
            writer.key(name)
            writer.raw(text.bytes)
        case .structured(let value):
            writer.key(name)
            writer.structured(value)
        }
        guard writer.count - before > detail.valueBytes else { return }
        writer.rewind(to: before)
        writer.member("truncated", true)
    }

    /// Lower bound for a value's size: one that is far too long is not written at all.
    private static func leastBytes(of value: SerializedValue) -> Int {
        switch value {
        case .data(let bytes): Base64.encodedLength(of: bytes.count)
        case .string(let text): text.utf8.count
        case .jsonText(let text): text.bytes.count
        case .none, .omitted, .json, .structured: 0
        }
    }
}
