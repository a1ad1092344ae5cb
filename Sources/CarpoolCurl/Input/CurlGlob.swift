/// A URL, or the name of a file for `-T`, with patterns: `{a,b}`, `[1-10:2]`, `[a-z]` and `[001-100]`. A backslash
/// protects a brace or a bracket, and addresses of IPv6 and `[]` are no patterns. It is a sequence of the texts that
/// match, which are made one by one.
struct CurlGlob: Sequence {
    /// A text, and what its patterns are in it.
    struct Match: Equatable {
        let text: String
        /// What each pattern is, in order; `nil` if the text was not searched for patterns (`-g`).
        let pieces: [String]?
    }

    /// A part of the text.
    enum Part: Equatable {
        case literal([UInt8])
        case set([[UInt8]])
        /// The first letter, the number of letters, and the step.
        case letters(UInt8, count: Int64, step: UInt8)
        /// The first number, how many there are, the step, and the width that zeros fill.
        case numbers(UInt64, count: Int64, step: UInt64, width: Int)

        /// The number of texts.
        var count: Int64 {
            switch self {
            case .literal: 1
            case .set(let texts): Int64(texts.count)
            case .letters(_, let count, _), .numbers(_, let count, _, _): count
            }
        }

        /// The text at an index.
        func text(_ index: Int64) -> [UInt8] {
            switch self {
            case .literal(let text): return text
            case .set(let texts): return texts[Int(index)]
            case .letters(let first, _, let step): return [first + UInt8(index) * step]
            case .numbers(let first, _, let step, let width):
                let digits = Array(String(first + UInt64(index) * step).utf8)
                return [UInt8](repeating: UInt8(ascii: "0"), count: Swift.max(0, width - digits.count)) + digits
            }
        }

        fileprivate var isLiteral: Bool { if case .literal = self { true } else { false } }
    }

    /// Makes the texts one by one; the last pattern changes first.
    struct Iterator: IteratorProtocol {
        fileprivate let parts: [Part]
        fileprivate let isPattern: Bool
        /// The index of each part; `nil` at the end.
        fileprivate var indexes: [Int64]?

        mutating func next() -> Match? {
            guard var current = indexes else { return nil }
            let texts = zip(parts, current).map { $0.text($1) }
            let pieces = zip(parts, texts).filter { !$0.0.isLiteral }.map(\.1.text)
            indexes = nil
            for place in parts.indices.reversed() {
                current[place] += 1
                if current[place] < parts[place].count {
                    indexes = current
                    break
                }
                current[place] = 0
            }
            return Match(text: texts.flatMap { $0 }.text, pieces: isPattern ? pieces : nil)
        }
    }

    private let parts: [Part]
    private let isPattern: Bool
    /// The number of texts.
    let count: Int64

    /// Reads a text. Its errors are curl's, with the position.
    init(_ text: String) throws(CurlError) {
        var parser = CurlGlobParser(text)
        parts = try parser.parse()
        count = parser.count
        isPattern = true
    }

    /// A text without patterns (`-g`).
    init(literal text: String) {
        parts = [.literal(Array(text.utf8))]
        count = 1
        isPattern = false
    }

    func makeIterator() -> Iterator {
        Iterator(parts: parts, isPattern: isPattern, indexes: [Int64](repeating: 0, count: parts.count))
    }
}

extension CurlGlob.Match {
    /// A longer name is refused, as by curl.
    private static let maximumNameBytes = 10 * 1_024 - 1

    /// The name of a file with `#1`, `#2` and so on replaced by what the patterns are. Other numbers stay as they are.
    func name(_ template: String) throws(CurlError) -> String {
        guard let pieces else { return template }
        let bytes = Array(template.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let digits = bytes[(index + 1)...].prefix(while: \.isDigit)
            if bytes[index] == UInt8(ascii: "#"), let number = Int(digits.text), pieces.indices.contains(number - 1) {
                result += Array(pieces[number - 1].utf8)
                index += 1 + digits.count
            } else {
                result.append(bytes[index])
                index += 1
            }
            guard result.count <= CurlGlob.Match.maximumNameBytes else {
                throw CurlError(
                    exitCode: CurlExitCode.outOfMemory, message: CurlErrorText.of(CurlExitCode.outOfMemory),
                    warnings: ["bad output glob"])
            }
        }
        guard !result.isEmpty else {
            throw CurlError(
                exitCode: CurlExitCode.writeError, message: CurlErrorText.of(CurlExitCode.writeError),
                warnings: ["output glob produces empty string"])
        }
        return result.text
    }
}
