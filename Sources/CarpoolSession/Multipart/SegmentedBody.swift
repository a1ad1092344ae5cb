public import CarpoolHTTP

/// A segment of a body.
public enum BodySegment {
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

extension RequestBody {
    /// A body of segments that are sent one after the other. It can be sent again.
    public static func segments(_ segments: [BodySegment]) -> RequestBody { .source(SegmentedBody(segments)) }
}

/// A body of consecutive segments: bytes, parts of files, and other sources. No segment is read before its turn.
final class SegmentedBody: BodySource {
    let lengthBytes: Int64?
    var onReady: () -> Void = {} {
        didSet {
            for case .source(let source, _) in segments { source.onReady = onReady }
            for reader in readers.values { reader.onReady = onReady }
        }
    }
    private let segments: [BodySegment]
    /// The index of the current segment, and how much of it has been read.
    private var index = 0
    private var position: Int64 = 0
    /// The read-ahead of the current and the next file.
    private var readers: [Int: FileReadAhead] = [:]

    init(_ segments: [BodySegment]) {
        self.segments = segments
        // A file in memory may claim to have 2^63 - 1 bytes.
        lengthBytes = segments.reduce(0) { sum, segment in
            let (length, isTooLong) = sum.addingReportingOverflow(segment.length)
            return isTooLong ? .max : length
        }
    }

    var mayWait: Bool {
        segments.contains { segment in
            if case .source(let source, _) = segment { source.mayWait } else { false }
        }
    }

    func close() {
        onReady = {}
        readers = [:]
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
        readers = [:]
        for case .source(let source, _) in segments { source.restart() }
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        while index < segments.count, position >= segments[index].length {
            readers[index] = nil
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

    private func read(_ segment: BodySegment, into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        switch segment {
        case .bytes(let bytes):
            let start = Int(clamping: position)
            room.copyBytes(from: bytes[start..<start + room.count])
            return .bytes(room.count)
        case .file: return reader(at: index)?.read(into: room) ?? .end
        case .source(let source, let length):
            let reading = source.read(into: room)
            guard case .end = reading else { return reading }
            return .failed(
                TransportError(
                    .requestBodyStreamExhausted, "a part ended after \(position) of \(length) bytes"))
        }
    }

    /// The reader of a segment that is a file. The next file is read ahead too, so that small files do not wait for
    /// each other.
    private func reader(at index: Int) -> FileReadAhead? {
        // Between two files is the head of the second.
        for index in [index, index + 2] where segments.indices.contains(index) && readers[index] == nil {
            guard case .file(let file, let offset, let length) = segments[index] else { continue }
            let reader = FileReadAhead(file, offset: offset, length: length)
            reader.onReady = onReady
            readers[index] = reader
        }
        return readers[index]
    }

    /// The pieces from which a job can assemble all of the bytes; `nil` if other sources produce some of them.
    var pieces: [BodyPiece]? {
        var pieces: [BodyPiece] = []
        for segment in segments {
            switch segment {
            case .bytes(let bytes): pieces.append(.bytes(bytes))
            case .file(let file, let offset, let length):
                guard let open = file.openFile else { return nil }
                pieces.append(.file(open, path: file.path, offset: offset, length: length))
            case .source: return nil
            }
        }
        return pieces
    }
}
