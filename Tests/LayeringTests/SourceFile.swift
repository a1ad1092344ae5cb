import Foundation

/// One source file: its text as it stands, and the same text with comments and string literals blanked out, so that a
/// rule about code is not broken by a sentence about it. Line numbers are the same in both.
struct SourceFile: Sendable {
    let path: String
    let lines: [String]
    let code: [String]

    /// The file's name without its extension.
    var stem: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }

    init(path: String) throws {
        let text = try String(contentsOf: SourceTree.root.appendingPathComponent(path), encoding: .utf8)
        self.init(path: path, text: text)
    }

    init(path: String, text: String) {
        self.path = path
        lines = Self.split(text)
        code = Self.split(CodeOnly.blank(text))
    }

    /// Places where `word` occurs in code as a word of its own, as "path:line: word".
    func occurrences(of word: String) -> [String] {
        func isName(_ character: Character?) -> Bool { character?.isLetter == true || character == "_" }
        return code.enumerated().compactMap { index, line in
            guard let found = line.range(of: word), !isName(line[..<found.lowerBound].last),
                !isName(line[found.upperBound...].first)
            else { return nil }
            return "\(path):\(index + 1): \(word)"
        }
    }

    /// The modules that the file imports, with their lines.
    var imports: [(module: String, line: Int)] {
        code.enumerated().compactMap { index, line in
            guard line.contains("import ") else { return nil }
            // Any attributes and an access level, `import`, for one declaration its kind, and the module.
            let pattern = /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+\s+)?import\s+(?:[a-z]+\s+)?(\w+)/
            guard let match = line.firstMatch(of: pattern) else { return nil }
            return (String(match.1), index + 1)
        }
    }

    private static func split(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}
