import Foundation
import Testing

/// Names of failures are part of the protocol, so each one that the sources know has a line in its page.
struct FailuresPageTests {
    @Test func everyFailureIsDocumented() throws {
        let page = try SourceFile(path: "docs/failures.md").lines.joined(separator: "\n")
        var names: Set<String> = []
        for file in try SourceTree.swiftSources() {
            let text = file.lines.joined(separator: "\n")
            names.formUnion(text.matches(of: /SessionError\(\s*"([a-z_.]+)"/).map { String($0.1) })
            if file.stem == "TransportError" {
                names.formUnion(text.matches(of: /Code\(rawValue: "([a-z_]+)"\)/).map { ".\($0.1)" })
            }
        }
        #expect(names.count > 20, "the sources are not read as they should be")
        let prefix = "session_task_failed"
        for name in names.sorted() {
            let short = name.hasPrefix(prefix + ".") ? String(name.dropFirst(prefix.count)) : name
            #expect(page.contains("`\(short)`"), "docs/failures.md does not know \(name)")
        }
    }
}
