internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

// Heads and trailers as they were received.
extension RecordWriter {
    /// Bytes of the names and the ends of the members.
    private static let memberBytes = 80

    /// Writes the heads that did not go to the descriptor, and the trailers, as far as they fit. They are the caller's
    /// alone, because they have secrets.
    func write(_ heads: RecordedHeads, of request: Request, atMost limit: Int, to writer: inout JSONWriter) {
        guard disclosure == nil else { return }
        let start = writer.count
        let hasTrailers = !heads.trailers.isEmpty
        var isWhole = true
        let hasConnectHeads = request.parameters.output?.settings.writesConnectHeads == true
        if hasConnectHeads, !request.hasWrittenToDescriptor, !heads.connectBytes.isEmpty {
            let room = (limit - RecordWriter.memberBytes) / 2
            isWhole = write("raw_connect_heads", heads.connectBytes, atMost: room, to: &writer)
        }
        if !request.hasWrittenToDescriptor, !heads.bytes.isEmpty {
            let room = limit - RecordWriter.memberBytes - (writer.count - start)
            isWhole = write("raw_heads", heads.bytes, atMost: hasTrailers ? room / 2 : room, to: &writer) && isWhole
        }
        if hasTrailers {
            let room = limit - RecordWriter.memberBytes - (writer.count - start)
            isWhole = write("raw_trailers", heads.trailers, atMost: room, to: &writer) && isWhole
        }
        if !isWhole { writer.member("heads_truncated", true) }
    }

    /// Writes the lines from the first one on that fit, and returns whether all do.
    private func write(_ name: StaticString, _ lines: [UInt8], atMost limit: Int, to writer: inout JSONWriter) -> Bool {
        lines.withUnsafeBytes { all in
            let count = RecordWriter.fittingBytes(of: all, atMost: limit)
            guard count > 0 else { return false }
            writer.key(name)
            writer.text(UnsafeRawBufferPointer(rebasing: all[..<count]))
            return count == all.count
        }
    }

    /// How many bytes of whole lines may be written as a text of at most so many bytes.
    static func fittingBytes(of lines: UnsafeRawBufferPointer, atMost limit: Int) -> Int {
        // No byte is shorter in its written form.
        var count = min(lines.count, max(0, limit))
        while count > 0 {
            let part = UnsafeRawBufferPointer(rebasing: lines[..<count])
            if count == lines.count || part.last == UInt8(ascii: "\n"), encodedBytes(of: part) <= limit { break }
            // One that does not fit is shortened by an eighth, so that a long one takes a few steps.
            let shorter = part[..<(count - max(1, count / 8))]
            count = shorter.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        }
        return count
    }

    /// The length of a text, or of its form in base64, which is an object.
    private static func encodedBytes(of text: UnsafeRawBufferPointer) -> Int {
        JSONWriter.isUTF8(text)
            ? JSONWriter.encodedLength(ofText: text) : Base64.encodedLength(of: text.count) + 16
    }
}
