/// One reader of a stream: its place in the bytes, what it makes of them, and how much it may still be given.
///
/// Lives as long as whoever made it keeps it. It is asked with ``give(to:)`` until it gives nothing, and again whenever ``onReady`` is called.
public final class StreamReader {
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
    /// Where the bytes stand that the framer has not seen.
    private(set) var position: Int64
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
        framer = serializer.makeFramer(recordBytes: messageBytes)
    }

    deinit { stream.readerIsGone() }

    /// Whether it has been told how the stream ended.
    public var isOver: Bool { hasCompleted }

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

    /// Gives the next message, if there is one and there is credit for it; the last one needs none. Gives whether there was one.
    @discardableResult public func give(to receiver: (StreamMessage) -> Void) -> Bool {
        guard !hasCompleted else { return false }
        if !stream.isDropped, let message = nextRecords() {
            if serializer.isParsed { stream.didParse(ParsedStream(serializer: serializer, message: message)) }
            receiver(message)
            stream.readerHasGot(message)
            return true
        }
        stream.readerHasTaken()
        guard !isBehind || stream.isDropped, let completion = stream.completion, !hasCompleted else { return false }
        hasCompleted = true
        attempt = stream.attempt
        receiver(make(.complete(completion), sizeBytes: 0))
        return true
    }

    // MARK: Records

    private func nextRecords() -> StreamMessage? {
        var records: [StreamRecord.Content] = []
        var (size, encoded) = (0, 0)
        // What the end makes no record of is no reason to wait for credit.
        if credit <= 0, kept == nil, stream.attempt(at: position) == nil, stream.hasEnded(attempt) {
            kept = endAttempt()
        }
        while credit > size, let record = nextRecord(room: credit - size) {
            let fits = records.isEmpty || encoded &+ record.encodedBytes <= messageBytes
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
            encoded &+= record.encodedBytes &+ 1
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
    private var isAtBoundary: Bool { kept == nil && (stream.attempt(at: position) ?? attempt) != attempt }

    private func nextRecord(room: Int) -> StreamRecord? {
        if let record = kept {
            kept = nil
            return record
        }
        while true {
            switch stream.attempt(at: position) {
            case .some(attempt):
                let (taken, record) = stream.withPiece(at: position) { framer.take($0, room: room) } ?? (0, nil)
                position &+= Int64(taken)
                if record != nil || taken == 0 { return record }
            case .some(let next):
                if let record = endAttempt() { return record }
                attempt = next
            case .none: return stream.hasEnded(attempt) ? endAttempt() : nil
            }
        }
    }

    /// Gives what the end of an attempt makes a record; what it makes none of is passed over.
    private func endAttempt() -> StreamRecord? {
        defer { framer = serializer.makeFramer(recordBytes: messageBytes) }
        return framer.finish()
    }
}
