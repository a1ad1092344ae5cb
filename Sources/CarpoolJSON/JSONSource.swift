import CJansson

/// A text and its outline. Trees of its parts are created when they are read.
///
/// jansson cannot hold every number, nor U+0000 in a name, and a tree of a large value takes thirty times its bytes. So
/// the text that jansson gets has a real number in the place of each such number and of each large value: an index into
/// the outline's tables. As no other real number is left in it, a real number in a tree *is* such an index, and no
/// received text can contain one.
///
/// In a text with U+0000 in a name, all names are escaped: U+0001 stands before U+0001, and U+0001 U+0002 for U+0000.
final class JSONSource {
    /// The value of a real number in a tree.
    enum Place {
        case number(Int)
        case large(Int)
    }

    let text: [UInt8]
    let outline: JSONOutline

    init(_ text: [UInt8], _ outline: JSONOutline) {
        self.text = text
        self.outline = outline
    }

    /// Whether names in the trees are escaped.
    var escapesNames: Bool { outline.hasNullInName }

    static func place(of node: UnsafeMutablePointer<json_t>) -> Place {
        let value = json_real_value(node)
        return value < 0 ? .large(Int(-value) &- 1) : .number(Int(value))
    }

    /// The position of the text of a value that a tree only refers to.
    func span(of node: UnsafeMutablePointer<json_t>) -> JSONSpan {
        switch JSONSource.place(of: node) {
        case .number(let index): outline.numbers[index]
        case .large(let index): outline.large[index].span
        }
    }

    /// The tree of a value, without the parts that stay text.
    func load(_ span: JSONSpan) -> UnsafeMutablePointer<json_t>? {
        text.withUnsafeBytes { text in
            let replaced = replacements(inside: span)
            guard !replaced.isEmpty else { return JSONSource.load(span.bytes(of: text)) }
            var rewritten = TextBuffer()
            rewritten.reserve(min(span.count, 65_536))
            var copied = Int(span.start)
            for part in replaced {
                rewritten.append(UnsafeRawBufferPointer(rebasing: text[copied..<part.start]))
                var text = part.text
                text.withUTF8 { rewritten.append(UnsafeRawBufferPointer($0)) }
                copied = part.end
            }
            rewritten.append(UnsafeRawBufferPointer(rebasing: text[copied..<Int(span.end)]))
            return rewritten.withBytes { JSONSource.load($0) }
        }
    }

    /// Any value is allowed at the top level (RFC 8259, section 2), and U+0000 is an ordinary character of a string.
    /// The last value of a duplicate name is used.
    private static let flags = Int(JSON_DECODE_ANY | JSON_ALLOW_NUL)

    static func load(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutablePointer<json_t>? {
        guard let start = bytes.baseAddress else { return nil }
        return json_loadb(start.assumingMemoryBound(to: CChar.self), bytes.count, flags, nil)
    }

    // MARK: Parts that stay text

    private struct Replacement {
        let start: Int
        let end: Int
        let text: String
    }

    private func replacements(inside span: JSONSpan) -> [Replacement] {
        var found: [Replacement] = []
        var from = span.start
        for index in largest(inside: span) {
            let large = outline.large[index].span
            addSmall(from, large.start, to: &found)
            found.append(Replacement(start: Int(large.start), end: Int(large.end), text: "-\(index + 1).0"))
            from = large.end
        }
        addSmall(from, span.end, to: &found)
        return found
    }

    /// The large values inside a value that are in no other large value inside it, in order.
    private func largest(inside span: JSONSpan) -> [Int] {
        var found: [Int] = []
        // Values that end after this one are not inside it.
        var index = JSONSource.firstIndex(outline.large.count) { outline.large[$0].span.end > span.end } &- 1
        var limit = span.end
        while index >= 0 {
            let other = outline.large[index].span
            // Each follows those inside it. The value itself is one of them, or the whole text.
            if other.end <= limit, other.start >= span.start, other != span {
                found.append(index)
                limit = other.start
            }
            if other.end <= span.start { break }
            index &-= 1
        }
        return found.reversed()
    }

    /// Adds the numbers, and the characters of names, between two offsets.
    private func addSmall(_ start: UInt32, _ end: UInt32, to found: inout [Replacement]) {
        var number = JSONSource.firstIndex(outline.numbers.count) { outline.numbers[$0].start >= start }
        let escapes = escapesNames ? outline.nameEscapes : []
        var escape = JSONSource.firstIndex(escapes.count) { escapes[$0] >= start }
        while true {
            let nextNumber = number < outline.numbers.count ? outline.numbers[number].start : .max
            let nextEscape = escape < escapes.count ? escapes[escape] : .max
            guard min(nextNumber, nextEscape) < end else { return }
            if nextNumber < nextEscape {
                let span = outline.numbers[number]
                found.append(Replacement(start: Int(span.start), end: Int(span.end), text: "\(number).0"))
                number &+= 1
            } else {
                let isNull = text[Int(nextEscape) &+ 5] == UInt8(ascii: "0")
                found.append(
                    Replacement(
                        start: Int(nextEscape), end: Int(nextEscape) &+ 6,
                        text: isNull ? #"\u0001\u0002"# : #"\u0001\u0001"#))
                escape &+= 1
            }
        }
    }

    /// The first index for which a condition holds, which must hold for all later ones too (binary search).
    private static func firstIndex(_ count: Int, where holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low &+ high) / 2
            if holds(middle) { high = middle } else { low = middle &+ 1 }
        }
        return low
    }

    // MARK: Names

    /// The form of a name in trees of this text.
    static func escape(name: UnsafeRawBufferPointer) -> [UInt8] {
        name.flatMap { byte -> [UInt8] in byte > 1 ? [byte] : [1, byte == 0 ? 2 : 1] }
    }

    /// The original name of one in the form of ``escape(name:)``.
    static func unescape(name: UnsafeRawBufferPointer) -> [UInt8] {
        var output: [UInt8] = []
        var isMarked = false
        for byte in name {
            if isMarked { output.append(byte == 2 ? 0 : 1) } else if byte != 1 { output.append(byte) }
            isMarked = !isMarked && byte == 1
        }
        return output
    }
}
