/// Reads the patterns of a text, with curl's errors.
struct CurlGlobParser {
    /// The number of texts.
    private(set) var count: Int64 = 1
    private let text: String
    private let bytes: [UInt8]
    private var index = 0
    /// curl's position, from 1, which addresses of IPv6 do not move.
    private var position = 1
    private var parts: [CurlGlob.Part] = []

    /// curl takes fewer parts than this.
    private static let maximumParts = 100
    /// curl cuts longer messages.
    private static let maximumMessageBytes = 511
    /// An address of IPv6 with its brackets is shorter.
    private static let maximumAddressBytes = 128
    /// The largest step of letters.
    private static let maximumLetterStep: UInt64 = 256

    private static let opens = (brace: UInt8(ascii: "{"), bracket: UInt8(ascii: "["))
    private static let closes = (brace: UInt8(ascii: "}"), bracket: UInt8(ascii: "]"))
    private static let backslash = UInt8(ascii: "\\")

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func parse() throws(CurlError) -> [CurlGlob.Part] {
        while let byte {
            let literal = try self.literal()
            if !literal.isEmpty {
                parts.append(.literal(literal))
            } else {
                index += 1
                position += 1
                parts.append(byte == CurlGlobParser.opens.brace ? try set() : try range())
            }
            guard parts.count < CurlGlobParser.maximumParts else { throw error("too many globs", at: position) }
        }
        return parts
    }

    private func error(_ reason: String, at position: Int) -> CurlError {
        guard position > 0 else { return CurlError(exitCode: CurlExitCode.malformedURL, message: reason) }
        let mark = String(repeating: " ", count: max(1, position - 1)) + "^"
        let message = "\(reason) in URL position \(position):\n\(text)\n\(mark)"
        return CurlError(
            exitCode: CurlExitCode.malformedURL,
            message: message.utf8.prefix(CurlGlobParser.maximumMessageBytes).text)
    }

    /// The text up to the next pattern.
    private mutating func literal() throws(CurlError) -> [UInt8] {
        var result: [UInt8] = []
        while let byte, byte != CurlGlobParser.opens.brace {
            if byte == CurlGlobParser.opens.bracket {
                let length = literalBrackets()
                guard length > 0 else { break }
                result += bytes[index..<(index + length)]
                index += length
                continue
            }
            if byte == CurlGlobParser.closes.brace || byte == CurlGlobParser.closes.bracket {
                throw error("unmatched close brace/bracket", at: position)
            }
            if byte == CurlGlobParser.backslash, index + 1 < bytes.count, isSpecial(bytes[index + 1]) { skip() }
            result.append(bytes[index])
            skip()
        }
        return result
    }

    private mutating func skip() {
        index += 1
        position += 1
    }

    private func isSpecial(_ byte: UInt8) -> Bool {
        [
            CurlGlobParser.opens.brace, CurlGlobParser.opens.bracket, CurlGlobParser.closes.brace,
            CurlGlobParser.closes.bracket,
        ].contains(byte)
    }

    /// The length of an address of IPv6 in brackets, or of `[]`; 0 for a pattern.
    private func literalBrackets() -> Int {
        guard let end = bytes[index...].firstIndex(of: CurlGlobParser.closes.bracket) else { return 0 }
        let length = end - index + 1
        let isAddress =
            length < CurlGlobParser.maximumAddressBytes
            && (try? CurlURL(Array(bytes[index...end]), .guessesScheme)) != nil
        return isAddress || length == 2 ? length : 0
    }

    /// Counts the texts of a pattern.
    private mutating func multiply(by factor: Int64, at position: Int) throws(CurlError) {
        let (product, overflows) = count.multipliedReportingOverflow(by: factor)
        if overflows { throw error("range overflow", at: position) }
        count = product
    }

    /// `a,b}`
    private mutating func set() throws(CurlError) -> CurlGlob.Part {
        let (start, opening) = (index, position - 1)
        var texts: [[UInt8]] = []
        var text: [UInt8] = []
        while let byte {
            switch byte {
            case CurlGlobParser.opens.brace, CurlGlobParser.opens.bracket: throw error("nested brace", at: position)
            case CurlGlobParser.closes.bracket: throw error("unexpected close bracket", at: position)
            case CurlGlobParser.closes.brace:
                if index == start { throw error("empty string within braces", at: position) }
                texts.append(text)
                try multiply(by: Int64(texts.count), at: 0)
                // curl does not count the closing brace.
                index += 1
                return .set(texts)
            case UInt8(ascii: ","):
                texts.append(text)
                text = []
                skip()
            default:
                if byte == CurlGlobParser.backslash, index + 1 < bytes.count { skip() }
                text.append(bytes[index])
                skip()
            }
        }
        throw error("unmatched brace", at: opening)
    }

    /// `a-z]`, `1-10]` and the like.
    private mutating func range() throws(CurlError) -> CurlGlob.Part {
        guard let byte, byte.isLetter || byte.isDigit else { throw error("bad range specification", at: position) }
        return byte.isLetter ? try letters() : try numbers()
    }

    private mutating func letters() throws(CurlError) -> CurlGlob.Part {
        let first = bytes[index]
        var step: UInt64 = 0
        var last: UInt8 = 0
        let start = index
        if index + 3 < bytes.count, bytes[index + 1] == UInt8(ascii: "-") {
            last = bytes[index + 2]
            if bytes[index + 3] == UInt8(ascii: ":") {
                index += 4
                let number = self.number(atMost: CurlGlobParser.maximumLetterStep)
                if let number, take("]") { step = number }
            } else if bytes[index + 3] == CurlGlobParser.closes.bracket {
                index += 4
                step = 1
            }
        }
        position += index - start
        let span = UInt64(last) &- UInt64(first)
        guard step > 0, last < 128, last >= first, first == last ? step == 1 : step <= span, span <= 25 else {
            throw error("bad range", at: position)
        }
        let count = Int64(span / step) + 1
        try multiply(by: count, at: position)
        return .letters(first, count: count, step: UInt8(step))
    }

    private mutating func numbers() throws(CurlError) -> CurlGlob.Part {
        let start = index
        let width = byte == UInt8(ascii: "0") ? bytes[index...].prefix(while: \.isDigit).count : 0
        let limit = UInt64(Int64.max)
        var step: UInt64 = 0
        let first = number(atMost: limit)
        var last: UInt64?
        if first != nil, take("-") {
            while byte?.isBlank == true { index += 1 }
            last = number(atMost: limit)
            if last != nil {
                if take("]") {
                    step = 1
                } else if take(":"), let number = number(atMost: limit), take("]") {
                    step = number
                }
            }
        }
        position += index - start
        guard let first, let last, step > 0, last >= first, first == last ? step == 1 : step <= last - first else {
            throw error("bad range", at: position)
        }
        let steps = (last - first) / step
        guard steps < limit else { throw error("range overflow", at: position) }
        try multiply(by: Int64(steps) + 1, at: position)
        return .numbers(first, count: Int64(steps) + 1, step: step, width: width)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard byte == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// A number; without one, or if it is too large, nothing is taken.
    private mutating func number(atMost limit: UInt64) -> UInt64? {
        let digits = bytes[index...].prefix(while: \.isDigit)
        guard let number = UInt64(digits.text), number <= limit else { return nil }
        index += digits.count
        return number
    }
}
