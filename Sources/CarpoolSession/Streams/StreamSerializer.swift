/// What a reader of a stream gets its bytes as.
public enum StreamSerializer: String, CaseIterable, Sendable {
    /// As they come.
    case bytes
    /// UTF-8, never cut inside of a character; what is none becomes U+FFFD (ST-07).
    case text
    /// Lines of UTF-8 without their ends, LF or CRLF. What stands behind the last end is a line too.
    case lines
    /// One JSON text a line; blank lines are passed over.
    case jsonLines = "json_lines"
    /// Server-sent events, as the WHATWG's HTML standard has them (section 9.2, "Server-sent events").
    case events = "sse"

    /// Whether ``EventMonitor/request(_:didParseStream:)`` is told of what it makes: not of bytes, of which it makes nothing (ST-08).
    var isParsed: Bool { self != .bytes }

    /// Makes what finds the records, none of which has more bytes than the limit in its JSON form.
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
