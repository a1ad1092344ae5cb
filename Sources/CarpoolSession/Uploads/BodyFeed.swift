public import CarpoolHTTP

/// A body that somebody gives piece by piece while it is sent (UP-05). It keeps what the network has not taken, and nobody may give more than
/// it has room for; as long as all of it fits, it can be sent again.
public final class BodyFeed: BodySource {
    /// What became of a piece.
    public struct Receipt: Equatable, Sendable {
        /// How many bytes of it were new.
        public let acceptedBytes: Int
        /// Where the next piece begins.
        public let offsetBytes: Int64
        /// How many bytes it may have to be taken at once.
        public let roomBytes: Int
    }

    /// Why a piece is not taken.
    public enum Refusal: Error, Equatable, Sendable {
        /// The last piece has been given.
        case ended
        /// Nobody sends the body any more.
        case over
        /// So many pieces wait already.
        case tooManyWaiting(Int)
        /// It does not begin where the one before has ended.
        case gap(expected: Int64)
        /// It has more bytes than are left of the body's length.
        case tooLong(left: Int64)
        /// The last piece leaves so many bytes of the body's length.
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

    /// The length that was promised.
    public let lengthBytes: Int64?
    /// Called when a reader that waits may read on.
    public var onReady: () -> Void = {}
    private var buffer: FeedBuffer
    /// Where the next piece begins, those that wait included.
    private var nextOffset: Int64 = 0
    private var hasEnded = false
    private var isOver = false
    private var isAwaited = false
    private var waiting: [Waiting] = []
    private var lastToken = 0

    /// What is kept of a body: enough to keep a fast network busy while its client prepares the next piece.
    public static let standardCapacityBytes = 1 << 20
    /// Pieces of one body that wait for room; a client that has learned nothing of the first ones learns nothing by giving more.
    private static let maximumWaiting = 4

    /// Makes an empty feed. A body of a known length ends with its last byte; others end with their last piece.
    public init(lengthBytes: Int64? = nil, capacityBytes: Int = BodyFeed.standardCapacityBytes) {
        self.lengthBytes = lengthBytes
        buffer = FeedBuffer(capacity: capacityBytes)
        hasEnded = lengthBytes == 0
    }

    // MARK: Whoever gives

    /// Takes a piece, now or when there is room. One that has been given before, as far as the offset says so, counts as taken. The number takes
    /// a piece that waits back with ``withdraw(_:)``.
    @discardableResult public func put(
        _ bytes: [UInt8], at offset: Int64? = nil, isLast: Bool = false,
        completion: @escaping (Result<Receipt, Refusal>) -> Void
    ) -> Int {
        lastToken &+= 1
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

    /// Takes back a piece that waits, and with it those behind it, whose places are not known any more.
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

    /// Nobody sends the body any more: whoever waits is told so, and the bytes go.
    public func close() {
        guard !isOver else { return }
        isOver = true
        buffer = FeedBuffer(capacity: 0)
        onReady = {}
        let waiting = waiting
        self.waiting = []
        for piece in waiting { piece.completion(.failure(.over)) }
    }

    /// Takes the pieces for which there is room, in order.
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
        let awaited = isAwaited
        isAwaited = false
        for piece in taken {
            offset &+= Int64(piece.piece.bytes.count)
            piece.completion(
                .success(
                    Receipt(acceptedBytes: piece.piece.bytes.count, offsetBytes: offset, roomBytes: buffer.room)))
        }
        if awaited { onReady() }
    }

    // MARK: Whoever sends

    /// It may have to wait for whoever gives.
    public var mayWait: Bool { true }

    /// Whether nothing that was read has been let go of.
    public var canRestart: Bool { !isOver && buffer.isWhole }

    /// Goes back to the first byte.
    public func restart() { buffer.restart() }

    /// Copies what is there.
    public func read(into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        let count = buffer.read(into: room)
        if count > 0 {
            if !waiting.isEmpty { admit() }
            return .bytes(count)
        }
        if hasEnded, waiting.isEmpty { return .end }
        guard !isOver else {
            return .failed(TransportError(.requestBodyStreamExhausted, "nobody gives the rest of the body"))
        }
        isAwaited = true
        return .wait
    }
}
