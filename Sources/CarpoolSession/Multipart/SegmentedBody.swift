internal import CarpoolHTTP

/// A body of pieces: bytes, parts of files, and what others give, one after the other. No piece is read before its turn.
final class SegmentedBody: BodySource {
    enum Segment {
        case bytes([UInt8])
        case file(BodyFile, offset: Int64, length: Int64)
        case source(any BodySource, length: Int64)

        var length: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, _, let length), .source(_, let length): length
            }
        }
    }

    let lengthBytes: Int64?
    var onReady: () -> Void = {} {
        didSet { for case .source(let source, _) in segments { source.onReady = onReady } }
    }
    private let segments: [Segment]
    /// The segment whose turn it is, and how much of it has been read.
    private var index = 0
    private var position: Int64 = 0

    init(_ segments: [Segment]) {
        self.segments = segments
        lengthBytes = segments.reduce(0) { $0.addingReportingOverflow($1.length).partialValue }
    }

    var mayWait: Bool {
        segments.contains { segment in
            if case .source(let source, _) = segment { source.mayWait } else { false }
        }
    }

    func close() {
        onReady = {}
        for case .source(let source, _) in segments { source.close() }
    }

    var canRestart: Bool {
        segments.allSatisfy { segment in
            if case .source(let source, _) = segment { source.canRestart } else { true }
        }
    }

    func restart() {
        index = 0
        position = 0
        for case .source(let source, _) in segments { source.restart() }
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        while index < segments.count, position >= segments[index].length {
            index += 1
            position = 0
        }
        guard index < segments.count else { return .end }
        let segment = segments[index]
        let part = UnsafeMutableRawBufferPointer(
            rebasing: room[..<min(room.count, Int(clamping: segment.length &- position))])
        let reading = read(segment, into: part)
        if case .bytes(let count) = reading { position &+= Int64(count) }
        return reading
    }

    private func read(_ segment: Segment, into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        switch segment {
        case .bytes(let bytes):
            let start = Int(clamping: position)
            room.copyBytes(from: bytes[start..<start + room.count])
            return .bytes(room.count)
        case .file(let file, let offset, let length):
            return file.read(at: offset &+ position, of: length, into: room)
        case .source(let source, let length):
            let reading = source.read(into: room)
            guard case .end = reading else { return reading }
            return .failed(
                TransportError(
                    .requestBodyStreamExhausted, "a part ended after \(position) of \(length) bytes"))
        }
    }

    /// All of its bytes at once, for bodies that are small and wait for nobody.
    func contents() throws(SessionError) -> [UInt8] {
        let length = Int(clamping: lengthBytes ?? 0)
        var failure: SessionError?
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let room = UnsafeMutableRawBufferPointer(buffer)
            while count < length, failure == nil {
                switch read(into: UnsafeMutableRawBufferPointer(rebasing: room[count...])) {
                case .bytes(let more): count += more
                case .end, .wait, .failed: failure = shortage
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// What is wrong with the segment whose turn it is.
    private var shortage: SessionError {
        guard index < segments.count, case .file(let file, _, let length) = segments[index] else {
            return .multipartLength(expected: lengthBytes ?? 0, read: position, nil)
        }
        return .multipartLength(expected: length, read: position, file.path)
    }
}
