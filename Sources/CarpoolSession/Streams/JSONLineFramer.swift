internal import CarpoolJSON

/// Returns the JSON text of each line that is not blank. An invalid line is a failure, and the following lines
/// continue.
struct JSONLineFramer: StreamFramer {
    private var splitter: LineSplitter

    init(limit: Int) { splitter = LineSplitter(limit: limit) }

    var unfinishedBytes: Int { splitter.unfinishedBytes }

    mutating func take(_ bytes: UnsafeRawBufferPointer, room: Int) -> (taken: Int, record: StreamRecord?) {
        let (taken, line) = splitter.take(bytes)
        return (taken, line.flatMap { makeRecord($0) })
    }

    mutating func finish() -> StreamRecord? { splitter.finish().flatMap { makeRecord($0) } }

    private mutating func makeRecord(_ line: LineSplitter.Line) -> StreamRecord? {
        guard case .whole(let bytes) = line else {
            defer { splitter.begin() }
            return StreamRecord(.streamRecordTooLong(limit: splitter.limit), sizeBytes: splitter.taken)
        }
        guard !bytes.allSatisfy(JSONLineFramer.isBlank) else { return nil }
        defer { splitter.begin() }
        do throws(JSONError) {
            return StreamRecord(.json(try JSONText(bytes)), sizeBytes: splitter.taken)
        } catch {
            return StreamRecord(.streamRecordIsNotJSON(error), sizeBytes: splitter.taken)
        }
    }

    /// The blanks of RFC 8259, section 2; LF ends the line.
    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
