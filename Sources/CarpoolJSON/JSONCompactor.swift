internal import Glibc

/// Checks a JSON text and takes the blanks out of it, in one pass and without making values. It is stricter than the grammar: whatever needs a
/// second look it gives up on, and then the parser decides.
struct JSONCompactor {
    /// As deep as the parser goes.
    private static let maximumDepth = 64
    /// Names of one object are compared with each other; more of them are the parser's.
    private static let maximumNames = 24

    private let text: UnsafeRawBufferPointer
    private var position = 0
    /// What stands before it is in the output, or was left out.
    private var copied = 0
    /// As long as the text, which is the most that can come out.
    private let output: UnsafeMutableRawBufferPointer
    private var outputCount = 0
    /// The names of all objects that are open, the innermost's last.
    private var names: [Range<Int>] = []

    private init(_ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        self.text = text
        self.output = output
        names.reserveCapacity(JSONCompactor.maximumNames)
    }

    /// The text without blanks; `nil` if it is not plainly right.
    static func compact(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard JSONWriter.isUTF8(text) else { return nil }
        let compact = [UInt8](unsafeUninitializedCapacity: text.count) { output, count in
            var compactor = JSONCompactor(text, into: UnsafeMutableRawBufferPointer(output))
            count = compactor.run() ? compactor.outputCount : 0
        }
        // No text of JSON is empty.
        return compact.isEmpty ? nil : compact
    }

    private mutating func run() -> Bool {
        skipBlanks()
        guard value(depth: 0) else { return false }
        copy(upTo: position)
        skipBlanks()
        return position == text.count
    }

    private mutating func copy(upTo end: Int) {
        guard end > copied, let source = text.baseAddress, let target = output.baseAddress else { return }
        memcpy(target + outputCount, source + copied, end &- copied)
        outputCount &+= end &- copied
        copied = end
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position &+= 1
        return true
    }

    private mutating func skipBlanks() {
        guard let byte = next, byte <= 0x20 else { return }
        copy(upTo: position)
        while let byte = next, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D { position &+= 1 }
        copied = position
    }

    // MARK: Values

    private mutating func value(depth: Int) -> Bool {
        guard let first = next, depth < JSONCompactor.maximumDepth else { return false }
        switch first {
        case UInt8(ascii: "{"): return object(depth: depth &+ 1)
        case UInt8(ascii: "["): return array(depth: depth &+ 1)
        case UInt8(ascii: "\""): return string() != nil
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func array(depth: Int) -> Bool {
        position &+= 1
        skipBlanks()
        if take("]") { return true }
        while true {
            guard value(depth: depth) else { return false }
            skipBlanks()
            if take("]") { return true }
            guard take(",") else { return false }
            skipBlanks()
        }
    }

    private mutating func object(depth: Int) -> Bool {
        position &+= 1
        skipBlanks()
        if take("}") { return true }
        let outer = names.count
        defer { names.removeLast(names.count &- outer) }
        while true {
            guard let name = string(isName: true), isNew(name, since: outer) else { return false }
            skipBlanks()
            guard take(":") else { return false }
            skipBlanks()
            guard value(depth: depth) else { return false }
            skipBlanks()
            if take("}") { return true }
            guard take(",") else { return false }
            skipBlanks()
        }
    }

    /// Two members of one name are the parser's to refuse.
    private mutating func isNew(_ name: Range<Int>, since outer: Int) -> Bool {
        guard names.count &- outer < JSONCompactor.maximumNames, let base = text.baseAddress else { return false }
        for other in names[outer...] where other.count == name.count {
            if memcmp(base + other.lowerBound, base + name.lowerBound, name.count) == 0 { return false }
        }
        names.append(name)
        return true
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let end = position &+ word.utf8CodeUnitCount
        guard end <= text.count, word.matches(UnsafeRawBufferPointer(rebasing: text[position..<end])) else {
            return false
        }
        position = end
        return true
    }

    // MARK: Strings and numbers

    /// Where the string's content stands. Escapes in names, and those of surrogates, are the parser's to read.
    private mutating func string(isName: Bool = false) -> Range<Int>? {
        guard take("\"") else { return nil }
        let start = position
        while true {
            position = JSONEscape.firstEscape(in: text, from: position)
            guard let byte = next else { return nil }
            if byte == UInt8(ascii: "\"") {
                position &+= 1
                return start..<position &- 1
            }
            guard byte == UInt8(ascii: "\\"), !isName, escape() else { return nil }
        }
    }

    private mutating func escape() -> Bool {
        position &+= 1
        guard let letter = next else { return false }
        position &+= 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            guard position &+ 4 <= text.count, text[position..<position &+ 4].allSatisfy(JSONCompactor.isHexDigit),
                text[position] | 0x20 != UInt8(ascii: "d")
            else { return false }
            position &+= 4
            return true
        default: return false
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private mutating func number() -> Bool {
        _ = take("-")
        if !take("0") { guard digits() else { return false } }
        if take(".") { guard digits() else { return false } }
        guard let byte = next, byte | 0x20 == UInt8(ascii: "e") else { return true }
        position &+= 1
        if !take("+") { _ = take("-") }
        return digits()
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position &+= 1 }
        return position > start
    }
}
