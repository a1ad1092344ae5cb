import RegexBuilder

/// Measures functions by counting braces: from the line of `func`, `init`, `deinit` or `subscript` to its closing
/// brace.
enum FunctionLengths {
    struct Function {
        let name: String
        let start: Int
        let lines: Int
    }

    /// Attributes and modifiers, then the keyword: a call such as `self.init(...)` does not start a line this way.
    nonisolated(unsafe) private static let declaration = Regex {
        Anchor.startOfLine
        /\s*(?:(?:@\w+(?:\([^)]*\))?|\w+(?:\(\w+\))?)\s+)*?/
        Capture { /func\s+[^\s(<]+|init\b[?]?|deinit\b|subscript\b/ }
    }

    private static let keywords = ["func ", "init", "deinit", "subscript"]

    static func measure(_ file: SourceFile) -> [Function] {
        file.code.enumerated().compactMap { index, line in
            guard keywords.contains(where: line.contains), let match = line.firstMatch(of: declaration),
                let end = closingLine(file.code, from: index)
            else { return nil }
            return Function(name: String(match.1), start: index + 1, lines: end - index + 1)
        }
    }

    /// The line on which the body that starts at or after `start` ends; nil for a declaration without a body (a
    /// protocol's).
    private static func closingLine(_ code: [String], from start: Int) -> Int? {
        var parentheses = 0
        var braces = 0
        for index in start..<code.count {
            for byte in code[index].utf8 {
                switch UnicodeScalar(byte) {
                case "(", "[": parentheses += 1
                case ")", "]": parentheses -= 1
                case "{": braces += 1
                case "}":
                    braces -= 1
                    if braces == 0 { return index }
                    if braces < 0 { return nil }
                default: break
                }
            }
            // A signature continues over lines while a parenthesis is open, or when the next line starts with `throws`,
            // `->`, `where` or the brace; anything else means that no body follows.
            if braces == 0, parentheses == 0, index + 1 < code.count,
                code[index + 1].firstMatch(of: /^\s*(?:async|throws|rethrows|->|where|\{|\))/) == nil
            {
                return nil
            }
        }
        return nil
    }
}
