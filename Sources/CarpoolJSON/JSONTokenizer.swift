/// Reads one JSON text (RFC 8259) strictly, in one pass over its bytes. It creates no values, but records the positions
/// of the parts.
///
/// All received JSON is checked by it first. What it accepts, jansson accepts too, once the parts that jansson cannot
/// represent are replaced. A duplicate name in an object is JSON (RFC 8259, section 4) and is recorded, so that the
/// code that reads the object can refuse it. The reader keeps its memory from text to text.
public struct JSONTokenizer: Sendable {
    /// The default of the maximum depth of nested arrays and objects: jansson's own maximum.
    public static let maximumDepth = 2_048

    /// An array or object that is open.
    private struct Frame: Sendable {
        var start: Int
        var count: UInt32 = 0
        var outerNames: Int
        var isObject: Bool
        /// A duplicate name in this object.
        var duplicateName: JSONSpan?
    }

    private enum Expected: Sendable {
        case value, valueOrEnd, name, nameOrEnd, commaOrEnd
    }

    private let maximumDepth: Int
    private let isCompacting: Bool
    /// The open arrays and objects around ``top``, the innermost one; the outermost first.
    private var frames: [Frame] = []
    private var top = Frame(start: 0, outerNames: 0, isObject: false)
    private var depth = 0
    private var names = JSONNames()
    private var expected = Expected.value
    private var memberName = JSONSpan(0, 0)
    private var isMemberNameEscaped = false
    private var seen: UInt64 = 0

    var position = 0
    /// The outline; complete once the text has been read without a failure.
    public internal(set) var outline = JSONOutline()
    private(set) var failure: JSONFailure?
    /// The text without blanks outside strings, up to `copied`, if `isCompacting`.
    private var compact: [UInt8] = []
    private var copied = 0

    /// Creates a tokenizer that refuses deeper nesting.
    public init(maximumDepth: Int = JSONTokenizer.maximumDepth) {
        self.init(maximumDepth: maximumDepth, isCompacting: false)
    }

    private init(maximumDepth: Int, isCompacting: Bool) {
        self.maximumDepth = maximumDepth
        self.isCompacting = isCompacting
    }

    /// Reads a whole text; nothing but blanks may follow its value.
    public static func outline(
        of text: UnsafeRawBufferPointer, maximumDepth: Int = JSONTokenizer.maximumDepth
    ) throws(JSONError) -> JSONOutline {
        var tokenizer = JSONTokenizer(maximumDepth: maximumDepth)
        guard tokenizer.readWhole(text) else { throw tokenizer.error(in: text) }
        return tokenizer.outline
    }

    /// The text without blanks outside strings and without DEL inside them, which a terminal would act on.
    static func compacted(_ text: UnsafeRawBufferPointer) throws(JSONError) -> [UInt8] {
        var tokenizer = JSONTokenizer(maximumDepth: maximumDepth, isCompacting: true)
        guard tokenizer.readWhole(text) else { throw tokenizer.error(in: text) }
        if tokenizer.copied == 0 { return Array(text[..<tokenizer.position]) }
        tokenizer.copy(text, upTo: Int(tokenizer.outline.root.end))
        return tokenizer.compact
    }

    /// Reads the value at the beginning of a text, if it is complete; what follows it is not read.
    /// - Returns: false if the value is incomplete or not JSON.
    public mutating func readPrefix(of text: UnsafeRawBufferPointer) -> Bool {
        reset()
        let isRead = run(text) && checkEncoding(text)
        return isRead
    }

    private mutating func readWhole(_ text: UnsafeRawBufferPointer) -> Bool {
        reset()
        guard run(text) else { return false }
        skipBlanks(text)
        guard position == text.count else { return fail(.syntax, "unexpected text after the value", at: position &+ 1) }
        return checkEncoding(text)
    }

    private func error(in text: UnsafeRawBufferPointer) -> JSONError {
        (failure ?? JSONFailure(code: .incomplete, reason: "the text is empty", offset: 0)).error(in: text)
    }

    private mutating func reset() {
        frames.removeAll(keepingCapacity: true)
        names.removeAll()
        outline = JSONOutline()
        top = Frame(start: 0, outerNames: 0, isObject: false)
        (depth, expected, position, seen, copied) = (0, .value, 0, 0, 0)
        failure = nil
    }

    mutating func fail(_ code: JSONError.Code, _ reason: StaticString, at offset: Int) -> Bool {
        failure = JSONFailure(code: code, reason: reason, offset: offset)
        return false
    }

    private mutating func checkEncoding(_ text: UnsafeRawBufferPointer) -> Bool {
        guard seen & 0x8080_8080_8080_8080 != 0 else { return true }
        outline.hasNonASCII = true
        let read = UnsafeRawBufferPointer(rebasing: text[..<position])
        guard let offset = JSONWriter.firstInvalidUTF8(read) else { return true }
        return fail(.invalidUTF8, "these bytes are not UTF-8", at: offset)
    }

    // MARK: Blanks

    @inline(__always)
    private mutating func skipBlanks(_ text: UnsafeRawBufferPointer) {
        guard position < text.count, text[position] <= 0x20 else { return }
        // Most writers put one blank after a comma and a colon.
        if text[position] == 0x20, !isCompacting {
            position &+= 1
            guard position < text.count, text[position] <= 0x20 else { return }
        }
        skipBlankRun(text)
    }

    private mutating func skipBlankRun(_ text: UnsafeRawBufferPointer) {
        let start = position
        while position < text.count {
            let byte = text[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
            position &+= 1
        }
        guard isCompacting, position > start else { return }
        copy(text, upTo: start)
        copied = position
    }

    private mutating func copy(_ text: UnsafeRawBufferPointer, upTo end: Int) {
        guard end > copied else { return }
        compact.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied..<end]))
        copied = end
    }

    /// Writes DEL as an escape.
    mutating func escapeDelete(_ text: UnsafeRawBufferPointer, at offset: Int) {
        guard isCompacting else { return }
        copy(text, upTo: offset)
        compact.append(contentsOf: #"\u007f"#.utf8)
        copied = offset &+ 1
    }

    // MARK: Values

    private mutating func run(_ text: UnsafeRawBufferPointer) -> Bool {
        repeat {
            skipBlanks(text)
            guard position < text.count else { return fail(.incomplete, "the text ends inside a value", at: position) }
            switch expected {
            case .commaOrEnd: guard separator(text) else { return false }
            case .value: guard value(text) else { return false }
            case .valueOrEnd:
                if text[position] == UInt8(ascii: "]") { close() } else { guard value(text) else { return false } }
            case .name: guard name(text) else { return false }
            case .nameOrEnd:
                if text[position] == UInt8(ascii: "}") { close() } else { guard name(text) else { return false } }
            }
        } while depth > 0
        return true
    }

    private mutating func separator(_ text: UnsafeRawBufferPointer) -> Bool {
        switch text[position] {
        case UInt8(ascii: ","):
            expected = top.isObject ? .name : .value
            position &+= 1
        case UInt8(ascii: "}") where top.isObject, UInt8(ascii: "]") where !top.isObject: close()
        default:
            return fail(
                .syntax,
                top.isObject
                    ? "a comma or a closing brace should be here" : "a comma or a closing bracket should be here",
                at: position &+ 1)
        }
        return true
    }

    private mutating func value(_ text: UnsafeRawBufferPointer) -> Bool {
        let start = position
        switch text[start] {
        case UInt8(ascii: "\""):
            var isEscaped = false
            guard string(text, isName: false, isEscaped: &isEscaped) else { return false }
        case UInt8(ascii: "{"): return open(isObject: true)
        case UInt8(ascii: "["): return open(isObject: false)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): guard number(text) else { return false }
        case UInt8(ascii: "t"): guard word(text, "true") else { return false }
        case UInt8(ascii: "f"): guard word(text, "false") else { return false }
        case UInt8(ascii: "n"): guard word(text, "null") else { return false }
        default: return fail(.syntax, "a value should be here", at: start &+ 1)
        }
        finish(JSONSpan(start, position), count: 0)
        return true
    }

    private mutating func open(isObject: Bool) -> Bool {
        guard depth < maximumDepth else { return fail(.tooDeep, "nested too deep", at: position) }
        if depth > 0 { frames.append(top) }
        top = Frame(start: position, outerNames: names.count, isObject: isObject)
        depth &+= 1
        position &+= 1
        expected = isObject ? .nameOrEnd : .valueOrEnd
        return true
    }

    private mutating func close() {
        position &+= 1
        let closed = top
        if closed.isObject { names.close(closed.outerNames) }
        depth &-= 1
        if depth > 0, let outer = frames.popLast() { top = outer }
        finish(JSONSpan(closed.start, position), count: closed.count, duplicateName: closed.duplicateName)
    }

    /// Records a value that has been read.
    @inline(__always)
    private mutating func finish(_ span: JSONSpan, count: UInt32, duplicateName: JSONSpan? = nil) {
        expected = .commaOrEnd
        guard depth > 0 else {
            outline.root = span
            outline.duplicateName = duplicateName
            return
        }
        top.count &+= 1
        if span.count >= JSONOutline.largeBytes || duplicateName != nil {
            outline.large.append(.init(span: span, count: count, duplicateName: duplicateName))
        }
        guard depth == 1 else { return }
        outline.append(.init(name: memberName, value: span, isNameEscaped: isMemberNameEscaped))
    }

    private mutating func name(_ text: UnsafeRawBufferPointer) -> Bool {
        let start = position
        guard text[start] == UInt8(ascii: "\"") else {
            return fail(.syntax, "the name of a member should be here, in quotes", at: start &+ 1)
        }
        var isEscaped = false
        guard string(text, isName: true, isEscaped: &isEscaped) else { return false }
        let span = JSONSpan(start &+ 1, position &- 1)
        if !names.insert(.init(span: span, isEscaped: isEscaped), since: top.outerNames, of: text) {
            top.duplicateName = span
            // The value that follows takes the place of the former one.
            top.count &-= 1
        }
        if depth == 1 { (memberName, isMemberNameEscaped) = (span, isEscaped) }
        skipBlanks(text)
        guard position < text.count else { return fail(.incomplete, "the text ends inside a value", at: position) }
        guard text[position] == UInt8(ascii: ":") else {
            return fail(.syntax, "a colon should be here", at: position &+ 1)
        }
        position &+= 1
        expected = .value
        return true
    }

    private mutating func word(_ text: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < text.count else { return fail(.incomplete, "the text ends inside a value", at: position) }
            guard text[position] == word.utf8Start[index] else {
                return fail(.syntax, "a value should be here: true, false and null are the only words", at: position)
            }
            position &+= 1
        }
        return true
    }

    // MARK: Strings

    mutating func string(_ text: UnsafeRawBufferPointer, isName: Bool, isEscaped: inout Bool) -> Bool {
        position &+= 1
        while true {
            position = JSONString.endOfRun(text, from: position, seen: &seen)
            guard position < text.count else { return fail(.incomplete, "the text ends inside a string", at: position) }
            switch text[position] {
            case UInt8(ascii: "\""):
                position &+= 1
                return true
            case UInt8(ascii: "\\"):
                isEscaped = true
                guard escape(text, isName: isName) else { return false }
            case 0x7F:
                escapeDelete(text, at: position)
                position &+= 1
            default: return fail(.syntax, "a control character in a string must be written as an escape", at: position)
            }
        }
    }
}
