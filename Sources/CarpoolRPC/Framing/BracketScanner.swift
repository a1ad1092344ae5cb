/// Finds the end of a JSON object or array, byte by byte. It recognizes only strings and brackets.
///
/// Used for input that the tokenizer cannot read at once: a message that arrives in pieces, is too large, or is not
/// JSON. It does not validate: it finds where the message ends and the next one begins. It can stop and continue at any
/// byte.
struct BracketScanner {
    /// The result of a scan.
    enum Outcome: Equatable {
        /// The first bracket is closed.
        case complete
        /// A closing bracket does not match, or a string contains a line feed.
        case broken
        /// Nested deeper than allowed.
        case tooDeep
        /// A record separator inside the message: the next message starts here.
        case separator
    }

    /// The open brackets, the innermost in the lowest bit: 1 for `{`, 0 for `[`.
    private var brackets: UInt64 = 0
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private let maximumDepth: Int
    private let stopsAtSeparator: Bool

    /// A scanner that has not seen the first bracket yet.
    init(maximumDepth: Int, stopsAtSeparator: Bool) {
        self.maximumDepth = min(maximumDepth, UInt64.bitWidth)
        self.stopsAtSeparator = stopsAtSeparator
    }

    /// Continues at `position`, which is set to the byte after the last one that was read, or to the separator.
    /// - Returns: nil if the bytes end first.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, from position: inout Int) -> Outcome? {
        while position < bytes.count {
            if isInString, !isEscaped { skipPlain(bytes, &position) }
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            if stopsAtSeparator, byte == Framing.recordSeparator { return .separator }
            position &+= 1
            if isInString {
                if byte == UInt8(ascii: "\n") { return .broken }
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if let outcome = structure(byte) {
                return outcome
            }
        }
        return nil
    }

    /// Skips the bytes of a string that cannot end it: most of a message is in strings.
    private func skipPlain(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
        var place = position
        while place < bytes.count {
            let byte = bytes[place]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            place &+= 1
        }
        position = place
    }

    private mutating func structure(_ byte: UInt8) -> Outcome? {
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < maximumDepth else { return .tooDeep }
            depth &+= 1
            brackets = brackets << 1 | (byte == UInt8(ascii: "{") ? 1 : 0)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard brackets & 1 == (byte == UInt8(ascii: "}") ? 1 : 0) else { return .broken }
            depth &-= 1
            brackets >>= 1
            if depth == 0 { return .complete }
        default: break
        }
        return nil
    }
}
