import CarpoolJSON
import Foundation
import Testing

/// The rows of a file in Tests/Support/vectors, whose README names their members.
enum Vectors {
    static func rows(_ name: String) throws -> [JSON] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = tests.appending(path: "Support/vectors/\(name).jsonl")
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map { try JSON.parse(Array($0)) }
    }
}
