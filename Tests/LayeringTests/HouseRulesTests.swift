import Foundation
import Testing

/// The rules that a machine can check: sizes, names, and no statement that ends the process on bad data.
struct HouseRulesTests {
    private static let kinds = ["struct ", "class ", "enum ", "actor ", "protocol "]
    static let maximumFileLines = 400
    static let maximumFunctionLines = 40
    static let maximumCommentColumns = 120

    @Test func filesAreShort() throws {
        let suffixes = [".swift", ".c", ".h", ".py", ".sh"]
        for folder in ["Sources", "Tests", "clients"] {
            for file in try SourceTree.files(under: folder, suffixes: suffixes)
            where file.lines.count > Self.maximumFileLines {
                Issue.record("\(file.path):\(file.lines.count): more than \(Self.maximumFileLines) lines")
            }
        }
    }

    @Test func functionsAreShort() throws {
        for file in try SourceTree.swiftSources() {
            for function in FunctionLengths.measure(file) where function.lines > Self.maximumFunctionLines {
                Issue.record("\(file.path):\(function.start): \(function.name) has \(function.lines) lines")
            }
        }
    }

    @Test func commentsAreNarrow() throws {
        for folder in ["Sources", "Tests"] {
            for file in try SourceTree.files(under: folder, suffixes: [".swift"]) {
                for (index, line) in file.lines.enumerated()
                where line.count > Self.maximumCommentColumns && line.drop(while: { $0 == " " }).hasPrefix("//") {
                    Issue.record("\(file.path):\(index + 1): a comment beyond column \(Self.maximumCommentColumns)")
                }
            }
        }
    }

    @Test func nothingTraps() throws {
        let traps = ["fatalError", "precondition", "preconditionFailure", "assertionFailure", "try!", "as!"]
        for file in try SourceTree.swiftSources() {
            for place in traps.flatMap(file.occurrences(of:)) {
                Issue.record("\(place) ends the daemon; it should fail one request")
            }
        }
    }

    /// A test that shifts the clocks could otherwise not shift all of them. `receive.c` measures the span of a turn.
    @Test func clocksAreReadInOneFile() throws {
        let readings = [
            "clock_gettime", "gettimeofday", "timespec_get", "time(nil", "time(NULL", "ContinuousClock",
            "SuspendingClock",
        ]
        let files = try SourceTree.files(under: "Sources", suffixes: [".swift", ".c"]).filter { file in
            readings.contains { !file.occurrences(of: $0).isEmpty }
        }
        #expect(Set(files.map(\.stem)) == ["MonotonicTime", "receive"])
    }

    /// A file is named after its one main type; `Type+Aspect.swift` extends it.
    @Test func filesAreNamedAfterTheirType() throws {
        for file in try SourceTree.swiftSources() where file.stem != "main" {
            let type = file.stem.prefix { $0 != "+" }
            let declaration = try Regex(
                "\\b(struct|class|enum|actor|protocol|typealias|extension)\\s+(\\w+\\.)*\(type)\\b")
            if !file.code.contains(where: { $0.contains(type) && $0.contains(declaration) }) {
                Issue.record("\(file.path):1: declares no \(type)")
            }
        }
    }

    @Test func namesSayWhatAThingIs() throws {
        // Names of the model (Alamofire).
        let modelNames: Set = ["NetworkReachabilityManager", "ServerTrustManager"]
        let vague = /(?:Utils?|Utilities|Helpers?|Common|Manager|Misc)(?![a-z])/
        for file in try SourceTree.swiftSources() {
            if file.stem.contains(vague), !modelNames.contains(file.stem) {
                Issue.record("\(file.path):1: a vague name")
            }
            for (index, line) in file.code.enumerated() {
                guard Self.kinds.contains(where: line.contains),
                    let type = line.firstMatch(of: /\b(?:struct|class|enum|actor|protocol)\s+(\w+)/)?.1,
                    type.contains(vague), !modelNames.contains(String(type))
                else { continue }
                Issue.record("\(file.path):\(index + 1): \(type) is a vague name")
            }
        }
    }

    @Test func theTopLevelHoldsOnlyTheHouse() throws {
        let allowed: Set = ["Package.swift", "Package.resolved", "Sources", "Tests", "clients", "docs", "README.md"]
        let found = try FileManager.default.contentsOfDirectory(atPath: SourceTree.root.path)
        #expect(found.filter { !$0.hasPrefix(".") && !allowed.contains($0) } == [])
    }
}
