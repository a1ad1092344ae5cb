/// Returns lines without their ends, LF or CRLF. A line that is too long is a failure, and the following lines
/// continue.
struct LineFramer: StreamFramer {
    private var splitter: LineSplitter

    init(limit: Int) { splitter = LineSplitter(limit: limit) }

    var unfinishedBytes: Int { splitter.unfinishedBytes }

    mutating func take(_ bytes: UnsafeRawBufferPointer, room: Int) -> (taken: Int, record: StreamRecord?) {
        let (taken, line) = splitter.take(bytes)
        return (taken, line.map { makeRecord($0) })
    }

    mutating func finish() -> StreamRecord? { splitter.finish().map { makeRecord($0) } }

    private mutating func makeRecord(_ line: LineSplitter.Line) -> StreamRecord {
        defer { splitter.begin() }
        if case .whole(let bytes) = line {
            let text = String(decoding: bytes, as: UTF8.self)
            if text.encodedBytes <= splitter.limit { return StreamRecord(.text(text), sizeBytes: splitter.taken) }
        }
        return StreamRecord(.streamRecordTooLong(limit: splitter.limit), sizeBytes: splitter.taken)
    }
}
