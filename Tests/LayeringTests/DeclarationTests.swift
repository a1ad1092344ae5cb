import Foundation
import Testing

/// Names of the protocol are declared once; the table in docs/contributing.md lists where.
struct DeclarationTests {
    private static func text(of path: String) throws -> String {
        try SourceFile(path: path).lines.joined(separator: "\n")
    }

    private static func serverSources() throws -> [SourceFile] {
        try SourceTree.swiftSources().filter { $0.path.contains("Sources/CarpoolServer/") }
    }

    @Test("A parameter that requests and sessions share is named by its declaration alone")
    func parameters() throws {
        let text = try DeclarationTests.text(of: "Sources/CarpoolRPC/Parameters/AnyParameter+Transfer.swift")
        let declared = text.matches(of: /static let (\w+) = Parameter<\w+>\(\s*"([a-z_0-9]+)"/)
        #expect(declared.count >= 15)
        let list = try #require(text.firstMatch(of: /sharedParameters: \[AnyParameter\] = \[([^\]]*)\]/)).1
        let decoders = try DeclarationTests.serverSources().filter { $0.path.contains("/Parameters/") }
        #expect(decoders.count > 10)
        for match in declared {
            #expect(list.contains(".\(match.1),"), "\(match.1) is in no list")
            for file in decoders {
                let found = file.lines.contains { $0.contains("params[\"\(match.2)\"]") }
                #expect(!found, "\(file.path) spells \(match.2)")
            }
        }
    }

    @Test("The server publishes events by their cases, not by their names")
    func events() throws {
        let rows = try SourceTree.swiftSources().filter { $0.path.contains("CarpoolRPC/Events/EventType+") }
        let names = rows.flatMap { file in
            file.lines.joined(separator: "\n").matches(of: /\.\w+, "([a-z]+\.[a-z_]+)",/).map { String($0.1) }
        }
        #expect(names.count >= 50)
        for file in try DeclarationTests.serverSources() {
            for name in names where file.lines.contains(where: { $0.contains("\"\(name)\"") }) {
                Issue.record("\(file.path) spells \(name)")
            }
        }
    }

    @Test("The files that the table of costs names are there")
    func costs() throws {
        let text = try DeclarationTests.text(of: "docs/contributing.md")
        let paths = text.matches(of: /\]\(\.\.\/(Sources\/[\w\/+]+\.swift)\)/).map { String($0.1) }
        #expect(paths.count >= 8)
        for path in paths {
            let place = SourceTree.root.appendingPathComponent(path).path
            #expect(FileManager.default.fileExists(atPath: place), "\(path) is not there")
        }
    }
}
