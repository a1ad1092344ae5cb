internal import CarpoolJSON

/// An event of the framer.
public enum FramerEvent: Equatable, Sendable {
    /// One message, without its frame. ``RPCInput`` checks whether it is JSON.
    case message(MessageText)

    static func message(_ bytes: [UInt8]) -> FramerEvent { .message(MessageText(bytes)) }
    /// Input that is not a message. It is answered with this error and `id` null, and the connection continues.
    case failure(RPCError)
}

/// Splits a stream of bytes into messages: bytes in, events out. It does no input or output itself.
///
/// The first byte decides the framing. No byte is read twice, and the buffer holds at most one message and the bytes
/// that were appended last, so that a caller that takes all events before it appends more uses bounded memory. An error
/// affects only the message in which it occurs: the rest of its line (in RFC 7464, of its record) is skipped, and the
/// next one is read.
public struct MessageFramer: Sendable {
    private enum State {
        case between
        /// In an object or array.
        case brackets(isOversized: Bool)
        /// In a line that starts with another JSON value; the parser will refuse it.
        case bareLine(isOversized: Bool)
        /// In the rest of a bad line.
        case skippingLine
        /// In a block of headers.
        case headers
        /// In a message with a length.
        case content(length: Int)
        /// In a message whose length is over the limit.
        case skippingContent(left: Int)
    }

    /// The framing that the peer uses, as far as it is known.
    public private(set) var framing = Framing.undecided

    private let limits: FramingLimits
    private var state = State.between
    private var scanner: BracketScanner
    private var tokenizer: JSONTokenizer
    private var headers = ContentLengthHeaders()
    /// Received bytes. Those before `start` were returned in events already.
    private var buffer: [UInt8] = []
    private var start = 0
    private var position = 0
    private var isAtStartOfStream = true

    /// The number of buffered bytes of the incomplete message.
    public var bufferedBytes: Int { buffer.count &- start }

    /// The size of the allocated buffer, in bytes.
    public var heldBytes: Int { buffer.capacity }

    /// A framer at the start of a stream.
    public init(limits: FramingLimits = FramingLimits()) {
        self.limits = limits
        scanner = BracketScanner(maximumDepth: limits.depth, stopsAtSeparator: false)
        tokenizer = JSONTokenizer(maximumDepth: limits.depth)
    }

    /// Appends bytes from the peer. Call `next()` until it returns nil before the next `append`.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// Appends one message in the framing that the peer uses.
    public func frame(_ message: [UInt8], into output: inout [UInt8]) { framing.frame(message, into: &output) }

    /// Appends one message in the peer's framing.
    public func frame(_ message: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        framing.frame(message, into: &output)
    }

    /// Appends one message that lies in two parts in the peer's framing.
    public func frame(_ first: [UInt8], _ rest: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        framing.frame(first, rest, into: &output)
    }

    /// The next event, or nil if more bytes are needed.
    public mutating func next() -> FramerEvent? {
        while position < buffer.count {
            if let event = step() { return event }
        }
        return nil
    }

    /// Whether the buffer ends with the beginning of an incomplete message, which ``discard()`` drops.
    public var canDiscard: Bool {
        switch state {
        case .brackets(isOversized: false), .bareLine(isOversized: false), .content: true
        default: false
        }
    }

    /// Drops the incomplete message, once `next()` has returned nil. The rest of it is skipped as it arrives. Returns
    /// whether there was one.
    public mutating func discard() -> Bool {
        switch state {
        case .brackets(isOversized: false): state = .brackets(isOversized: true)
        case .bareLine(isOversized: false): state = .bareLine(isOversized: true)
        case .content(let length): state = .skippingContent(left: length &- bufferedBytes)
        default: return false
        }
        reset()
        return true
    }

    /// Frees memory that is not needed.
    public mutating func shrink() {
        if bufferedBytes == 0 {
            buffer = []
            start = 0
            position = 0
        }
    }

    /// The last event. Call it at the end of the peer's input, after `next()` has returned nil.
    public mutating func finish() -> FramerEvent? {
        defer { reset() }
        switch state {
        case .between where start < buffer.count, .brackets(isOversized: false), .headers, .content:
            return .failure(.parseError("the stream ended inside a message"))
        case .bareLine(isOversized: false): return .message(Array(buffer[start...]))
        case .between, .brackets, .bareLine, .skippingLine, .skippingContent: return nil
        }
    }

    /// Reads the buffer in the current state. Makes progress or uses up the buffer.
    private mutating func step() -> FramerEvent? {
        switch state {
        case .between: return begin()
        case .brackets(let isOversized): return scanBrackets(isOversized: isOversized)
        case .bareLine(let isOversized): return scanBareLine(isOversized: isOversized)
        case .skippingLine: return skipLine()
        case .headers: return readHeaders()
        case .content(let length): return readContent(length)
        case .skippingContent(let left):
            let skipped = min(left, buffer.count &- position)
            position &+= skipped
            start = position
            state = skipped == left ? .between : .skippingContent(left: left &- skipped)
            return nil
        }
    }

    // MARK: Between messages

    private mutating func begin() -> FramerEvent? {
        if isAtStartOfStream, !skipByteOrderMark() { return nil }
        let byte = buffer[position]
        start = position
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            position &+= 1
            start = position
        case Framing.recordSeparator where framing == .undecided || framing == .jsonSequence:
            framing = .jsonSequence
            position &+= 1
            start = position
        case UInt8(ascii: "C"), UInt8(ascii: "c"):
            guard framing == .undecided || framing == .contentLength else { return failAtInvalidStart() }
            headers = ContentLengthHeaders()
            state = .headers
        case _ where framing == .contentLength:
            headers = ContentLengthHeaders()
            state = .headers
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if framing == .undecided { framing = .lines }
            if let message = readWhole() { return .message(message) }
            scanner = BracketScanner(maximumDepth: limits.depth, stopsAtSeparator: framing == .jsonSequence)
            state = .brackets(isOversized: false)
        case UInt8(ascii: "\""), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"),
            UInt8(ascii: "f"), UInt8(ascii: "n"):
            state = .bareLine(isOversized: false)
        default: return failAtInvalidStart()
        }
        return nil
    }

    private mutating func failAtInvalidStart() -> FramerEvent {
        var error = RPCError.parseError("no JSON text starts here")
        error.hint = "send one JSON-RPC 2.0 object or array a line, or use Content-Length headers or RFC 7464"
        state = .skippingLine
        return .failure(error)
    }

    /// Skips the byte order mark of UTF-8 that some systems put before a text.
    /// - Returns: false while more bytes are needed to decide.
    private mutating func skipByteOrderMark() -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let found = buffer[start...].prefix(mark.count)
        if found.count < mark.count, mark.starts(with: found) {
            position = buffer.count
            return false
        }
        isAtStartOfStream = false
        position = start &+ (found.elementsEqual(mark) ? mark.count : 0)
        start = position
        return position < buffer.count
    }

    // MARK: Lines and records

    /// The message that starts here, if it is complete and JSON, as nearly every message is. Other input is read by the
    /// scanner of brackets, which can stop anywhere and continue after an error.
    private mutating func readWhole() -> MessageText? {
        let isRead = buffer.withUnsafeBytes { tokenizer.readPrefix(of: UnsafeRawBufferPointer(rebasing: $0[start...])) }
        guard isRead, tokenizer.outline.root.count <= limits.messageBytes else { return nil }
        let end = start &+ tokenizer.outline.root.count
        let message = MessageText(Array(buffer[start..<end]), outline: tokenizer.outline)
        // The line feed is included, so that nothing is left after a single line.
        position = end < buffer.count && buffer[end] == UInt8(ascii: "\n") ? end &+ 1 : end
        start = position
        return message
    }

    private mutating func scanBrackets(isOversized: Bool) -> FramerEvent? {
        let outcome = buffer.withUnsafeBufferPointer { scanner.scan($0, from: &position) }
        if isOversized {
            // The failure has been reported; only the end of the message matters.
            start = position
            if let outcome { state = after(outcome) }
            return nil
        }
        guard position &- start <= limits.messageBytes else {
            state = outcome.map(after) ?? .brackets(isOversized: true)
            start = position
            return .failure(.messageTooLarge(limitBytes: limits.messageBytes))
        }
        guard let outcome else { return nil }
        let message = start..<position
        state = after(outcome)
        start = position
        switch outcome {
        case .complete: return .message(Array(buffer[message]))
        case .broken: return .failure(.parseError("a bracket does not match, or a string is not closed on its line"))
        case .tooDeep: return .failure(.tooDeep(limits.depth))
        case .separator: return .failure(.parseError("the next record starts inside this one"))
        }
    }

    private func after(_ outcome: BracketScanner.Outcome) -> State {
        switch outcome {
        case .complete, .separator: return .between
        case .broken where framing != .jsonSequence && buffer[position &- 1] == UInt8(ascii: "\n"): return .between
        case .broken, .tooDeep: return .skippingLine
        }
    }

    /// Whether a byte ends input that cannot be read.
    private func endsLine(_ byte: UInt8) -> Bool {
        byte == (framing == .jsonSequence ? Framing.recordSeparator : UInt8(ascii: "\n"))
    }

    private mutating func skipLine() -> FramerEvent? {
        if let end = buffer[position...].firstIndex(where: endsLine) {
            position = end
            state = .between
        } else {
            position = buffer.count
        }
        start = position
        return nil
    }

    private mutating func scanBareLine(isOversized: Bool) -> FramerEvent? {
        let end = buffer[position...].firstIndex { $0 == UInt8(ascii: "\n") || endsLine($0) }
        position = end ?? buffer.count
        let line = start..<position
        if isOversized || line.count > limits.messageBytes {
            start = position
            state = end == nil ? .bareLine(isOversized: true) : .between
            return isOversized ? nil : .failure(.messageTooLarge(limitBytes: limits.messageBytes))
        }
        guard end != nil else { return nil }
        start = position
        state = .between
        return .message(Array(buffer[line]))
    }

    // MARK: Content-Length

    private mutating func readHeaders() -> FramerEvent? {
        let outcome = headers.read(buffer[position...], limit: limits.headerBytes, position: &position)
        start = position
        guard let outcome else { return nil }
        switch outcome {
        case .length(let length):
            framing = .contentLength
            guard length <= limits.messageBytes else {
                state = .skippingContent(left: length)
                return .failure(.messageTooLarge(limitBytes: limits.messageBytes))
            }
            state = .content(length: length)
            // An empty message has no byte to wait for.
            return length == 0 ? readContent(0) : nil
        case .broken(let reason, let isAtLineEnd):
            state = isAtLineEnd ? .between : .skippingLine
            return .failure(.parseError(reason))
        }
    }

    private mutating func readContent(_ length: Int) -> FramerEvent? {
        guard buffer.count &- start >= length else {
            position = buffer.count
            return nil
        }
        let message = Array(buffer[start..<start &+ length])
        position = start &+ length
        start = position
        state = .between
        var checker = BracketScanner(maximumDepth: limits.depth, stopsAtSeparator: false)
        var checked = 0
        if message.withUnsafeBufferPointer({ checker.scan($0, from: &checked) }) == .tooDeep {
            return .failure(.tooDeep(limits.depth))
        }
        return .message(message)
    }

    // MARK: The buffer

    /// Drops bytes that were returned, so that each byte is moved only a few times.
    private mutating func compact() {
        if start == buffer.count {
            reset()
        } else if start > buffer.count / 2 {
            buffer.removeSubrange(..<start)
            position &-= start
            start = 0
        }
    }

    private mutating func reset() {
        // An idle connection does not keep the memory of its largest message.
        buffer.removeAll(keepingCapacity: buffer.capacity <= 65_536)
        start = 0
        position = 0
    }
}
