/// Replaces comments and the text of string literals by spaces, byte for byte, and keeps line breaks. Braces inside an
/// interpolation go too: they are balanced, so counting braces outside still comes out right.
struct CodeOnly {
    private enum Mode {
        case code
        case lineComment
        case blockComment(depth: Int)
        case string(quotes: Int, hashes: Int)
    }

    private let text: [UInt8]
    private var position = 0
    private var mode = Mode.code
    private var output: [UInt8] = []

    static func blank(_ text: String) -> String {
        var scanner = CodeOnly(text: Array(text.utf8))
        while scanner.position < scanner.text.count { scanner.step() }
        return String(decoding: scanner.output, as: UTF8.self)
    }

    private init(text: [UInt8]) { self.text = text }

    private mutating func step() {
        switch mode {
        case .code: stepCode()
        case .lineComment:
            if text[position] == UInt8(ascii: "\n") { mode = .code }
            skip(1)
        case .blockComment(let depth): stepBlockComment(depth)
        case .string(let quotes, let hashes): stepString(quotes: quotes, hashes: hashes)
        }
    }

    private mutating func stepCode() {
        if starts(with: "//") {
            mode = .lineComment
        } else if starts(with: "/*") {
            mode = .blockComment(depth: 1)
            skip(2)
        } else if let literal = literalStart() {
            mode = .string(quotes: literal.quotes, hashes: literal.hashes)
            skip(literal.quotes + literal.hashes)
        } else {
            output.append(text[position])
            position += 1
        }
    }

    private mutating func stepBlockComment(_ depth: Int) {
        if starts(with: "*/") {
            mode = depth == 1 ? .code : .blockComment(depth: depth - 1)
            skip(2)
        } else if starts(with: "/*") {
            mode = .blockComment(depth: depth + 1)
            skip(2)
        } else {
            skip(1)
        }
    }

    private mutating func stepString(quotes: Int, hashes: Int) {
        let end = String(repeating: "\"", count: quotes) + String(repeating: "#", count: hashes)
        let escape = "\\" + String(repeating: "#", count: hashes)
        if starts(with: end) {
            mode = .code
            skip(end.count)
        } else if starts(with: escape + "(") {
            skip(escape.count)
            skipInterpolation()
        } else if starts(with: escape) {
            skip(escape.count + 1)
        } else {
            skip(1)
        }
    }

    /// From the opening parenthesis to the closing one; literals inside an interpolation are read like any other.
    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            if let literal = literalStart() {
                let outer = mode
                mode = .string(quotes: literal.quotes, hashes: literal.hashes)
                skip(literal.quotes + literal.hashes)
                while case .string = mode, position < text.count { step() }
                mode = outer
                continue
            }
            guard position < text.count else { return }
            if text[position] == UInt8(ascii: "(") { depth += 1 }
            if text[position] == UInt8(ascii: ")") { depth -= 1 }
            skip(1)
        } while depth > 0
    }

    private func literalStart() -> (quotes: Int, hashes: Int)? {
        var index = position
        while index < text.count, text[index] == UInt8(ascii: "#") { index += 1 }
        guard index < text.count, text[index] == UInt8(ascii: "\"") else { return nil }
        let isLong = text[index...].starts(with: "\"\"\"".utf8)
        return (isLong ? 3 : 1, index - position)
    }

    private func starts(with word: String) -> Bool { text[position...].starts(with: word.utf8) }

    private mutating func skip(_ count: Int) {
        for _ in 0..<count where position < text.count {
            output.append(UInt8(ascii: text[position] == UInt8(ascii: "\n") ? "\n" : " "))
            position += 1
        }
    }
}
