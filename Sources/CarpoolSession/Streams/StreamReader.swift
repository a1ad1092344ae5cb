/// One reader of a stream: its position, its framer, and its credit.
///
/// Lives as long as its owner keeps it. Call ``deliver(to:)`` until it returns ``Step/nothing``, and again whenever
/// ``onReady`` is called.
public final class StreamReader {
    /// The result of one call of ``deliver(to:)``.
    public enum Step: Equatable, Sendable {
        /// A message was delivered.
        case message
        /// No record was completed, and there is more to read: repeat the call, preferably in another turn of the loop.
        case unfinished
        /// There is nothing to deliver before ``onReady`` is called or credit is granted.
        case nothing
    }

    /// How the reader gets the bytes.
    public let serializer: StreamSerializer
    /// The most bytes of the records of one message, in their JSON form.
    public let messageBytes: Int
    /// Called when there may be something to deliver.
    public var onReady: () -> Void = {}

    /// Whether the end of the request waits for this reader.
    let delaysEnd: Bool
    private let stream: ResponseStream
    private var framer: any StreamFramer
    private var attempt = 1
    private var credit = 0
    private var sequence = 0
    private var hasCompleted = false
    /// A record that did not fit the previous message.
    private var pendingRecord: StreamRecord?
    /// The end offset of the piece that was read last.
    private var pieceEnd: Int64
    /// The offset of the bytes that the framer has not seen.
    public private(set) var position: Int64
    /// The offset of the next byte of the stream.
    public var streamEnd: Int64 { stream.end }
    /// The offset up to which all bytes were delivered in messages or skipped.
    var deliveredEnd: Int64 { position &- Int64(framer.unfinishedBytes &+ (pendingRecord?.sizeBytes ?? 0)) }

    init(
        _ stream: ResponseStream, _ serializer: StreamSerializer, messageBytes: Int, delaysEnd: Bool,
        from position: Int64
    ) {
        self.stream = stream
        self.delaysEnd = delaysEnd
        self.serializer = serializer
        self.messageBytes = messageBytes
        self.position = position
        pieceEnd = position
        framer = serializer.makeFramer(recordBytes: messageBytes)
    }

    deinit { stream.readerWasFreed() }

    /// Whether the last message was delivered.
    public var isOver: Bool { hasCompleted }

    /// Whether only the last message is left to deliver.
    public var isAtEnd: Bool { !hasCompleted && stream.completion != nil && (stream.dropsUnreadBytes || !isBehind) }

    /// The number of the last delivered message; 0 before the first.
    public var lastSequence: Int { sequence }

    /// Whether there is something to deliver that waits for credit or a call of ``deliver(to:)``.
    var isBehind: Bool {
        !hasCompleted
            && (pendingRecord != nil || position < stream.end || stream.hasEnded(attempt) && deliveredEnd < position)
    }

    /// Grants credit for so many bytes of the stream. The last record may exceed the remaining credit: then the
    /// credit is negative.
    public func grant(_ bytes: Int) {
        let (sum, overflows) = credit.addingReportingOverflow(max(0, bytes))
        credit = overflows ? .max : sum
    }

    /// Replaces the remaining credit.
    public func setCredit(_ bytes: Int) { credit = max(0, bytes) }

    /// Delivers the next message, if there is one and credit for it; the last one needs none. However short the records
    /// are, a call takes about a millisecond.
    @discardableResult public func deliver(to receiver: (StreamMessage) -> Void) -> Step {
        guard !hasCompleted else { return .nothing }
        var budget = FramingBudget()
        if !stream.dropsUnreadBytes, let message = nextRecords(&budget) {
            if serializer.isParsed { stream.didParse(ParsedStream(serializer: serializer, message: message)) }
            receiver(message)
            stream.readerDidReceive(message)
            return .message
        }
        stream.readerDidAdvance()
        if budget.isSpent, !stream.dropsUnreadBytes { return .unfinished }
        guard !isBehind || stream.dropsUnreadBytes, let completion = stream.completion, !hasCompleted else {
            return .nothing
        }
        hasCompleted = true
        attempt = stream.attempt
        receiver(make(.complete(completion), sizeBytes: 0))
        return .message
    }

    // MARK: Records

    private func nextRecords(_ budget: inout FramingBudget) -> StreamMessage? {
        var records: [StreamRecord.Content] = []
        var (size, encoded) = (0, 0)
        // The end of an attempt that completes no record does not wait for credit.
        if credit <= 0, pendingRecord == nil, stream.attempt(at: position) == nil, stream.hasEnded(attempt) {
            pendingRecord = endAttempt()
        }
        while credit > size, let record = nextRecord(behind: records, room: credit - size, &budget) {
            let bytes = record.encodedBytes
            let fits = records.isEmpty || encoded &+ bytes <= messageBytes
            guard fits, case .success(let content) = record.result else {
                if records.isEmpty, case .failure(let error) = record.result {
                    return deliver(.failure(error), sizeBytes: record.sizeBytes)
                }
                pendingRecord = record
                break
            }
            records.append(content)
            size &+= record.sizeBytes
            // Includes the comma.
            encoded &+= bytes &+ 1
            // Pieces are not grouped; and what follows may belong to another attempt.
            if serializer == .bytes || serializer == .text || isAtBoundary { break }
        }
        return records.isEmpty ? nil : deliver(.records(records), sizeBytes: size)
    }

    private func deliver(_ content: StreamMessage.Content, sizeBytes: Int) -> StreamMessage {
        credit &-= sizeBytes
        return make(content, sizeBytes: sizeBytes)
    }

    private func make(_ content: StreamMessage.Content, sizeBytes: Int) -> StreamMessage {
        sequence += 1
        return StreamMessage(sequence: sequence, attempt: attempt, sizeBytes: sizeBytes, content: content)
    }

    /// Whether all bytes of its attempt were framed, so that the next record is the attempt's last or another's first.
    private var isAtBoundary: Bool {
        pendingRecord == nil && position == pieceEnd && (stream.attempt(at: position) ?? attempt) != attempt
    }

    /// The next record for a message; `nil` too if it belongs to another attempt than those before it.
    private func nextRecord(
        behind others: [StreamRecord.Content], room: Int, _ budget: inout FramingBudget
    ) -> StreamRecord? {
        if let record = pendingRecord {
            pendingRecord = nil
            return record
        }
        while !budget.isSpent {
            switch readPiece(room: room, &budget) {
            case .record(let record): return record
            case .full: return nil
            case .used: continue
            case .attempt(let next):
                if let record = endAttempt() { return record }
                guard others.isEmpty else { return nil }
                attempt = next
            case .empty: return stream.hasEnded(attempt) ? endAttempt() : nil
            }
        }
        return nil
    }

    /// The result of reading a piece.
    private enum PieceResult {
        case record(StreamRecord)
        /// There is no room for the next record.
        case full
        /// All of it, or the rest of the budget, was used without a record.
        case used
        /// It belongs to another attempt.
        case attempt(Int)
        /// There is no piece.
        case empty
    }

    /// Reads the current piece up to the end of the first record.
    private func readPiece(room: Int, _ budget: inout FramingBudget) -> PieceResult {
        stream.withPiece(at: position) { bytes, number in
            guard number == attempt else { return .attempt(number) }
            pieceEnd = position &+ Int64(bytes.count)
            var start = 0
            defer { position &+= Int64(start) }
            while start < bytes.count, !budget.isSpent {
                let (taken, record) = framer.take(UnsafeRawBufferPointer(rebasing: bytes[start...]), room: room)
                start &+= taken
                budget.spend(bytes: taken)
                if let record { return .record(record) }
                if taken == 0 { return .full }
            }
            return .used
        } ?? .empty
    }

    /// Returns the record that the end of an attempt completes; an incomplete one is dropped.
    private func endAttempt() -> StreamRecord? {
        defer { framer = serializer.makeFramer(recordBytes: messageBytes) }
        return framer.finish()
    }
}
