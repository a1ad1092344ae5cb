import Foundation

/// One source file: its text as it stands, and the same text with comments and string literals blanked out, so that a
/// rule about code is not broken by a sentence about it. Line numbers are the same in both.
struct SourceFile {
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

    /// Places where `pattern` occurs in code, as "path:line: found".
    func occurrences(of pattern: Regex<Substring>) -> [String] {
        code.enumerated().flatMap { index, line in
            line.matches(of: pattern).map { "\(path):\(index + 1): \($0.output)" }
        }
    }

    /// The modules that the file imports, with their lines.
    var imports: [(module: String, line: Int)] {
        code.enumerated().compactMap { index, line in
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
