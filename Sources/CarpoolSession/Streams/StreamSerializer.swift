/// The form in which a reader gets the bytes of a stream.
public enum StreamSerializer: String, CaseIterable, Sendable {
    /// Bytes, as they arrive.
    case bytes
    /// UTF-8, never cut inside a character; invalid bytes become U+FFFD (ST-07).
    case text
    /// Lines of UTF-8 without their ends, LF or CRLF. Text behind the last line end is a line too.
    case lines
    /// One JSON text a line; blank lines are skipped.
    case jsonLines = "json_lines"
    /// Server-sent events, as in the WHATWG's HTML standard (section 9.2, "Server-sent events").
    case events = "sse"

    /// Whether ``EventMonitor/request(_:didParseStream:)`` is called for its messages: not for bytes, which are not
    /// parsed (ST-08).
    var isParsed: Bool { self != .bytes }

    /// Makes the framer, whose records do not exceed the limit in their JSON form.
    func makeFramer(recordBytes: Int) -> any StreamFramer {
        switch self {
        case .bytes: BytesFramer(limit: recordBytes)
        case .text: TextFramer(limit: recordBytes)
        case .lines: LineFramer(limit: recordBytes)
        case .jsonLines: JSONLineFramer(limit: recordBytes)
        case .events: EventStreamFramer(limit: recordBytes)
        }
    }
}
