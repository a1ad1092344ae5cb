/// Parses an event stream as in the WHATWG's HTML standard (section 9.2.6, "Interpreting an event stream"): lines end
/// with CR, LF or CRLF, a byte order mark at the beginning is skipped, a blank line dispatches an event, and an event
/// cut off by the stream's end is dropped.
struct EventStreamFramer: StreamFramer {
    private let limit: Int
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var type = ""
    private var lastID = ""
    private var retryMilliseconds: Int?
    private var taken = 0
    private(set) var unfinishedBytes = 0
    /// Whether the event has any field line; comments do not count.
    private var hasFields = false
    private var isAtBeginning = true
    /// Whether the line before ended with CR, so that an LF belongs to it.
    private var hasReturned = false
    /// Whether an event that is too long is being skipped.
    private var isSkipping = false

    /// The limit for an event's lines, as a multiple of the record limit: field names and line ends do not count as
    /// data, but must be bounded too.
    private static let overhead = 8
    /// The memory of a line is reused for the next one up to this size.
    private static let keptBytes = 4_096

    init(limit: Int) { self.limit = limit }

    mutating func take(_ bytes: UnsafeRawBufferPointer, room: Int) -> (taken: Int, record: StreamRecord?) {
        var start = 0
        if hasReturned, bytes[0] == UInt8(ascii: "\n") {
            start = 1
            if unfinishedBytes > 0 { unfinishedBytes &+= 1 }
        }
        hasReturned = false
        let (record, isCounted) = takeLine(bytes, &start)
        if !isCounted { taken &+= start }
        return (start, record)
    }

    /// Takes bytes from an offset up to the end of the first line. Returns the result, and whether the bytes are
    /// counted in it.
    private mutating func takeLine(
        _ bytes: UnsafeRawBufferPointer, _ start: inout Int
    ) -> (record: StreamRecord?, isCounted: Bool) {
        guard start < bytes.count else { return (nil, false) }
        let end = EventStreamFramer.endOfLine(in: bytes, from: start)
        add(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        let next = min(bytes.count, end &+ 1)
        unfinishedBytes &+= next &- start
        start = next
        if end < bytes.count {
            hasReturned = bytes[end] == UInt8(ascii: "\r")
            if let record = endLine(taken: start) { return (record, true) }
        }
        if let record = skipIfTooLong(taken: start) { return (record, true) }
        if isSkipping || !hasFields && line.isEmpty { unfinishedBytes = 0 }
        return (nil, false)
    }

    /// The index of the first LF or CR, or the end.
    private static func endOfLine(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n"), bytes[position] != UInt8(ascii: "\r") {
            position &+= 1
        }
        return position
    }

    mutating func finish() -> StreamRecord? { nil }

    // MARK: Lines

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // Of a skipped event only the blank line at its end matters.
        if isSkipping, !line.isEmpty { return }
        line.append(contentsOf: isSkipping ? UnsafeRawBufferPointer(rebasing: bytes.prefix(1)) : bytes)
    }

    private mutating func endLine(taken: Int) -> StreamRecord? {
        defer { line.removeAll(keepingCapacity: line.count <= EventStreamFramer.keptBytes) }
        if isAtBeginning {
            isAtBeginning = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        if line.isEmpty { return dispatch(taken: taken) }
        // A comment is ignored.
        if !isSkipping, line[0] != UInt8(ascii: ":") { interpret() }
        return nil
    }

    private mutating func interpret() {
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 &+ 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        if name.elementsEqual("data".utf8) {
            if hasData { data.append(UInt8(ascii: "\n")) }
            data.append(contentsOf: value)
            hasData = true
        } else if name.elementsEqual("event".utf8) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("id".utf8) {
            if !value.contains(0) { lastID = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8) {
            let isNumber = !value.isEmpty && value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if isNumber { retryMilliseconds = Int(String(decoding: value, as: UTF8.self)) ?? .max }
        } else {
            return
        }
        hasFields = true
    }

    // MARK: Events

    private mutating func dispatch(taken: Int) -> StreamRecord? {
        defer {
            (data, hasData, type) = ([], false, "")
            (hasFields, isSkipping) = (false, false)
            unfinishedBytes = 0
        }
        guard hasData, !isSkipping else { return nil }
        let event = ServerSentEvent(
            type: type.isEmpty ? "message" : type, data: String(decoding: data, as: UTF8.self), id: lastID,
            retryMilliseconds: retryMilliseconds)
        let size = count(taken)
        guard event.encodedBytes <= limit else {
            return StreamRecord(.streamRecordTooLong(limit: limit), sizeBytes: size)
        }
        retryMilliseconds = nil
        return StreamRecord(.event(event), sizeBytes: size)
    }

    private mutating func skipIfTooLong(taken: Int) -> StreamRecord? {
        let isTooLong = line.count &+ data.count > limit || unfinishedBytes / EventStreamFramer.overhead > limit
        guard !isSkipping, isTooLong else { return nil }
        isSkipping = true
        unfinishedBytes = 0
        // One byte is enough to know that the line is not blank.
        line = Array(line.prefix(1))
        data = []
        return StreamRecord(.streamRecordTooLong(limit: limit), sizeBytes: count(taken))
    }

    private mutating func count(_ more: Int) -> Int {
        defer { taken = 0 }
        return taken &+ more
    }
}
