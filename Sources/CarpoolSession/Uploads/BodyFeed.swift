public import CarpoolHTTP

/// A body that a client sends in pieces during the upload (UP-05). It buffers what the network has not taken, and
/// accepts no more than it has room for; as long as all of it fits, it can be sent again.
public final class BodyFeed: BodySource {
    /// The result of adding a piece.
    public struct Receipt: Equatable, Sendable {
        /// How many bytes of it were new.
        public let acceptedBytes: Int
        /// The offset of the next piece.
        public let offsetBytes: Int64
        /// How many bytes may be added without waiting.
        public let roomBytes: Int
    }

    /// Why a piece was rejected.
    public enum Refusal: Error, Equatable, Sendable {
        /// The last piece was already added.
        case ended
        /// The body is not sent any longer.
        case over
        /// So many pieces are waiting already.
        case tooManyWaiting(Int)
        /// The piece does not start at the end of the previous one.
        case gap(expected: Int64)
        /// The piece exceeds the rest of the body's length.
        case tooLong(left: Int64)
        /// The last piece leaves so many bytes of the body's length missing.
        case tooShort(missing: Int64)
    }

    private struct Waiting {
        let token: Int
        let piece: Piece
        let completion: (Result<Receipt, Refusal>) -> Void
    }

    private struct Piece {
        let bytes: ArraySlice<UInt8>
        let isLast: Bool
    }

    /// The announced length.
    public let lengthBytes: Int64?
    /// Called when a waiting reader may continue.
    public var onReady: () -> Void = {}
    private var buffer: FeedBuffer
    /// The offset of the next piece, behind those that wait.
    private var nextOffset: Int64 = 0
    private var hasEnded = false
    private var isOver = false
    private var isReaderWaiting = false
    private var waiting: [Waiting] = []
    private var lastToken = 0

    /// The buffer size: enough to keep a fast network busy while its client prepares the next piece.
    public static let standardCapacityBytes = 1 << 20
    /// The most pieces of one body that wait for room; a client that gets no receipts gains nothing by sending more.
    private static let maximumWaiting = 4

    /// Makes an empty feed. A body of a known length ends with its last byte; others end with their last piece.
    public init(lengthBytes: Int64? = nil, capacityBytes: Int = BodyFeed.standardCapacityBytes) {
        self.lengthBytes = lengthBytes
        buffer = FeedBuffer(capacity: capacityBytes)
        hasEnded = lengthBytes == 0
    }

    // MARK: Writing

    /// Adds a piece, now or when there is room. Bytes that were added before, according to the offset, are skipped. The
    /// returned token removes a waiting piece with ``withdraw(_:)``.
    @discardableResult public func put(
        _ bytes: [UInt8], at offset: Int64? = nil, isLast: Bool = false,
        completion: @escaping (Result<Receipt, Refusal>) -> Void
    ) -> Int {
        lastToken += 1
        do throws(Refusal) {
            let piece = try check(bytes, at: offset ?? nextOffset, isLast: isLast)
            nextOffset &+= Int64(piece.bytes.count)
            if piece.isLast { hasEnded = true }
            waiting.append(Waiting(token: lastToken, piece: piece, completion: completion))
            admit()
        } catch {
            completion(.failure(error))
        }
        return lastToken
    }

    private func check(_ bytes: [UInt8], at offset: Int64, isLast: Bool) throws(Refusal) -> Piece {
        guard !isOver else { throw .over }
        guard offset <= nextOffset, offset >= 0 else { throw .gap(expected: nextOffset) }
        let known = Int(clamping: nextOffset &- offset)
        if hasEnded {
            guard known >= bytes.count else { throw .ended }
            return Piece(bytes: [], isLast: true)
        }
        let fresh = bytes.dropFirst(known)
        let end = nextOffset &+ Int64(fresh.count)
        if let lengthBytes {
            guard end <= lengthBytes else { throw .tooLong(left: lengthBytes &- nextOffset) }
            guard !isLast || end == lengthBytes else { throw .tooShort(missing: lengthBytes &- end) }
        }
        guard waiting.count < BodyFeed.maximumWaiting else { throw .tooManyWaiting(waiting.count) }
        return Piece(bytes: fresh, isLast: isLast || end == lengthBytes)
    }

    /// Removes a waiting piece, and those behind it, whose offsets are no longer valid.
    public func withdraw(_ token: Int) {
        guard let index = waiting.firstIndex(where: { $0.token == token }) else { return }
        let rest = waiting[index...]
        waiting.removeSubrange(index...)
        for piece in rest {
            nextOffset &-= Int64(piece.piece.bytes.count)
            if piece.piece.isLast { hasEnded = false }
        }
        for piece in rest.dropFirst() { piece.completion(.failure(.gap(expected: nextOffset))) }
    }

    /// Closes the feed: waiting pieces are rejected, and the bytes are freed.
    public func close() {
        guard !isOver else { return }
        isOver = true
        buffer = FeedBuffer(capacity: 0)
        onReady = {}
        let waiting = waiting
        self.waiting = []
        for piece in waiting { piece.completion(.failure(.over)) }
    }

    /// Accepts the pieces for which there is room, in order.
    private func admit() {
        var taken: [Waiting] = []
        while let first = waiting.first, buffer.hasRoom(for: first.piece.bytes.count) {
            waiting.removeFirst()
            buffer.append(first.piece.bytes)
            taken.append(first)
        }
        guard !taken.isEmpty else { return }
        var offset = nextOffset &- waiting.reduce(0) { $0 &+ Int64($1.piece.bytes.count) }
        offset &-= taken.reduce(0) { $0 &+ Int64($1.piece.bytes.count) }
        let mustWakeReader = isReaderWaiting
        isReaderWaiting = false
        for piece in taken {
            offset &+= Int64(piece.piece.bytes.count)
            piece.completion(
                .success(
                    Receipt(acceptedBytes: piece.piece.bytes.count, offsetBytes: offset, roomBytes: buffer.room)))
        }
        if mustWakeReader { onReady() }
    }

    // MARK: Reading

    /// Always `true`: a read may have to wait for the client.
    public var mayWait: Bool { true }

    /// Whether no byte that was read has been freed.
    public var canRestart: Bool { !isOver && buffer.canRestart }

    /// Restarts at the first byte.
    public func restart() { buffer.restart() }

    /// Copies available bytes.
    public func read(into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        let count = buffer.read(into: room)
        if count > 0 {
            if !waiting.isEmpty { admit() }
            return .bytes(count)
        }
        if hasEnded, waiting.isEmpty { return .end }
        guard !isOver else {
            return .failed(
                TransportError(.requestBodyStreamExhausted, "the client can no longer send the rest of the body"))
        }
        isReaderWaiting = true
        return .wait
    }
}
