import Foundation
import Testing

/// Pages that are written by hand list everything that the sources declare. Names of failures and limits are part of
/// the protocol.
struct DocumentationTests {
    @Test func everyFailureIsDocumented() throws {
        var names: Set<String> = []
        for file in try SourceTree.swiftSources() {
            let text = file.lines.joined(separator: "\n")
            names.formUnion(text.matches(of: /SessionError\(\s*"([a-z_.]+)"/).map { String($0.1) })
            if file.stem == "TransportError" {
                names.formUnion(text.matches(of: /Code\(rawValue: "([a-z_]+)"\)/).map { ".\($0.1)" })
            }
        }
        // The page leaves out what the names of failed transfers begin with.
        let prefix = "session_task_failed"
        let short = names.map { $0.hasPrefix(prefix + ".") ? String($0.dropFirst(prefix.count)) : $0 }
        try expectNames(short, in: "docs/failures.md", atLeast: 20)
    }

    @Test func everyLimitIsDocumented() throws {
        let file = try SourceFile(path: "Sources/CarpoolServer/Configuration/Limits.swift")
        let text = file.lines.joined(separator: "\n")
        let names = text.matches(of: /Field\(\s*"([a-z_]+)"/).map { String($0.1) }
        try expectNames(names, in: "docs/limits.md", atLeast: 15)
    }

    /// The Python package is distributed without the rest of the tree, so it has its own copy.
    @Test func thePythonPackageHasTheSameLicence() throws {
        let text = try SourceFile(path: "docs/LICENSE.md").lines
        #expect(text.first == "MIT License")
        #expect(try SourceFile(path: "clients/python/LICENSE").lines == text)
        let package = try SourceFile(path: "clients/python/pyproject.toml").lines
        #expect(package.contains(#"license = "MIT""#))
    }

    private func expectNames(_ names: [String], in path: String, atLeast count: Int) throws {
        #expect(names.count >= count, "the sources are not read as they should be")
        let page = try SourceFile(path: path).lines.joined(separator: "\n")
        for name in names.sorted() {
            #expect(page.contains("`\(name)`"), "\(path) does not know \(name)")
        }
    }
}
