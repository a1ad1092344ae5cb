/// One reader of a stream: its place in the bytes, what it makes of them, and how much it may still be given.
///
/// Lives as long as its owner keeps it. It is asked with ``give(to:)`` until it returns ``Step/nothing``, and again whenever ``onReady`` is called.
public final class StreamReader {
    /// What one call of ``give(to:)`` has done.
    public enum Step: Equatable, Sendable {
        /// A message was given.
        case message
        /// Only what makes no record was read, and there is more to read: the call is to be repeated, best in another turn of the loop.
        case unfinished
        /// There is nothing to give before ``onReady`` is called or credit is granted.
        case nothing
    }

    /// What it gets the bytes as.
    public let serializer: StreamSerializer
    /// The most bytes of the records of one message, in their JSON form.
    public let messageBytes: Int
    /// Called when there may be something to give.
    public var onReady: () -> Void = {}

    /// Whether the end of the request waits for it.
    let isWaitedFor: Bool
    private let stream: ResponseStream
    private var framer: any StreamFramer
    private var attempt = 1
    private var credit = 0
    private var sequence = 0
    private var hasCompleted = false
    /// A record that did not fit the message before.
    private var kept: StreamRecord?
    /// Where the piece ends that was read last.
    private var pieceEnd: Int64
    /// Where the bytes stand that the framer has not seen.
    public private(set) var position: Int64
    /// Where the next byte of the stream will stand.
    public var streamEnd: Int64 { stream.end }
    /// Where the bytes stand that are in no message yet, and can still be in one.
    var given: Int64 { position &- Int64(framer.unfinishedBytes &+ (kept?.sizeBytes ?? 0)) }

    init(
        _ stream: ResponseStream, _ serializer: StreamSerializer, messageBytes: Int, isWaitedFor: Bool,
        from position: Int64
    ) {
        self.stream = stream
        self.isWaitedFor = isWaitedFor
        self.serializer = serializer
        self.messageBytes = messageBytes
        self.position = position
        pieceEnd = position
        framer = serializer.makeFramer(recordBytes: messageBytes)
    }

    deinit { stream.readerIsGone() }

    /// Whether it has been told how the stream ended.
    public var isOver: Bool { hasCompleted }

    /// Whether nothing is left to tell it but how the stream ended.
    public var isAtEnd: Bool { !hasCompleted && stream.completion != nil && (stream.isDropped || !isBehind) }

    /// The number of the message that it was given last; 0 before the first.
    public var lastSequence: Int { sequence }

    /// Whether there is something that it has not been given, for want of credit or because it has not asked.
    var isBehind: Bool {
        !hasCompleted && (kept != nil || position < stream.end || stream.hasEnded(attempt) && given < position)
    }

    /// Lets it be given so many bytes of the stream more. What is given last may be a record that is larger than what is left: then the
    /// reader owes.
    public func grant(_ bytes: Int) {
        let (sum, overflows) = credit.addingReportingOverflow(max(0, bytes))
        credit = overflows ? .max : sum
    }

    /// Takes back the credit that is left, and grants so much.
    public func allow(_ bytes: Int) { credit = max(0, bytes) }

    /// Passes on the next message, if there is one and there is credit for it; the last one needs none. However short the records are, a call takes
    /// about a millisecond.
    @discardableResult public func give(to receiver: (StreamMessage) -> Void) -> Step {
        guard !hasCompleted else { return .nothing }
        var budget = FramingBudget()
        if !stream.isDropped, let message = nextRecords(&budget) {
            if serializer.isParsed { stream.didParse(ParsedStream(serializer: serializer, message: message)) }
            receiver(message)
            stream.readerHasGot(message)
            return .message
        }
        stream.readerHasTaken()
        if budget.isSpent, !stream.isDropped { return .unfinished }
        guard !isBehind || stream.isDropped, let completion = stream.completion, !hasCompleted else { return .nothing }
        hasCompleted = true
        attempt = stream.attempt
        receiver(make(.complete(completion), sizeBytes: 0))
        return .message
    }

    // MARK: Records

    private func nextRecords(_ budget: inout FramingBudget) -> StreamMessage? {
        var records: [StreamRecord.Content] = []
        var (size, encoded) = (0, 0)
        // What the end makes no record of is no reason to wait for credit.
        if credit <= 0, kept == nil, stream.attempt(at: position) == nil, stream.hasEnded(attempt) {
            kept = endAttempt()
        }
        while credit > size, let record = nextRecord(behind: records, room: credit - size, &budget) {
            let bytes = record.encodedBytes
            let fits = records.isEmpty || encoded &+ bytes <= messageBytes
            guard fits, case .success(let content) = record.result else {
                if records.isEmpty, case .failure(let error) = record.result {
                    return give(.failure(error), sizeBytes: record.sizeBytes)
                }
                kept = record
                break
            }
            records.append(content)
            size &+= record.sizeBytes
            // For the comma besides.
            encoded &+= bytes &+ 1
            // Pieces have no sense in numbers; and what comes next may be of another attempt.
            if serializer == .bytes || serializer == .text || isAtBoundary { break }
        }
        return records.isEmpty ? nil : give(.records(records), sizeBytes: size)
    }

    private func give(_ content: StreamMessage.Content, sizeBytes: Int) -> StreamMessage {
        credit &-= sizeBytes
        return make(content, sizeBytes: sizeBytes)
    }

    private func make(_ content: StreamMessage.Content, sizeBytes: Int) -> StreamMessage {
        sequence &+= 1
        return StreamMessage(sequence: sequence, attempt: attempt, sizeBytes: sizeBytes, content: content)
    }

    /// Whether all bytes of its attempt are with the framer, so that the next record is the attempt's last or another's first.
    private var isAtBoundary: Bool {
        kept == nil && position == pieceEnd && (stream.attempt(at: position) ?? attempt) != attempt
    }

    /// The record that comes next in a message; `nil` too where that is one of another attempt than those before it.
    private func nextRecord(
        behind others: [StreamRecord.Content], room: Int, _ budget: inout FramingBudget
    ) -> StreamRecord? {
        if let record = kept {
            kept = nil
            return record
        }
        while !budget.isSpent {
            switch takePiece(room: room, &budget) {
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

    /// What a piece of the stream has given.
    private enum Taken {
        case record(StreamRecord)
        /// There is no room for what comes next.
        case full
        /// All of it, or the rest of the budget, and no record.
        case used
        /// It is of another attempt.
        case attempt(Int)
        /// There is none.
        case empty
    }

    /// Reads the piece at its place up to the end of the first record.
    private func takePiece(room: Int, _ budget: inout FramingBudget) -> Taken {
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

    /// Gives what the end of an attempt makes a record; what it makes none of is passed over.
    private func endAttempt() -> StreamRecord? {
        defer { framer = serializer.makeFramer(recordBytes: messageBytes) }
        return framer.finish()
    }
}
