import CarpoolJSON
import CarpoolRPC
import Foundation
import Testing

/// One conversation of Tests/Transcripts, whose README defines the format.
struct Transcript: CustomTestStringConvertible {
    enum Step {
        case message([UInt8])
        case bytes([UInt8])
        case end
        case expect(JSON)
        case line([UInt8])
    }

    enum Failure: Error {
        case badLine(String)
    }

    let path: String
    var testDescription: String { path }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Transcripts")

    /// Those of one folder that are for the specification's methods.
    static func inFolder(_ folder: String) -> [Transcript] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
        return names.filter { $0.hasSuffix(".jsonl") }.sorted().map { Transcript(path: "\(folder)/\($0)") }
    }

    func steps() throws -> [Step] {
        let content = try Data(contentsOf: Transcript.root.appending(path: path))
        return try content.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let json = try JSON.parse(Array(line))
            if json["service"] != nil { return nil }
            if let message = json["send"] {
                var writer = JSONWriter()
                writer.value(message)
                return .message(writer.bytes)
            }
            if let text = json["text"]?.withUTF8({ Array($0) }) { return .message(text) }
            if let bytes = try json["bytes"]?.withUTF8({ try Base64.decode($0) }) { return .bytes(bytes) }
            if json["end"] != nil { return .end }
            if let answer = json["expect"] { return .expect(answer) }
            if let text = json["line"]?.withUTF8({ Array($0) }) { return .line(text) }
            throw Failure.badLine(String(decoding: line, as: UTF8.self))
        }
    }

    /// Whether an answer is the expected one: the same value, but of `data` only what the expectation has.
    static func matches(_ answer: JSON, _ expected: JSON) -> Bool {
        if answer.kind == .array, expected.kind == .array {
            return answer.count == expected.count
                && (0..<expected.count).allSatisfy { index in
                    guard let left = answer[index: index], let right = expected[index: index] else { return false }
                    return matches(left, right)
                }
        }
        guard let error = answer["error"], let wanted = expected["error"] else { return answer == expected }
        guard answer.count == expected.count, answer["id"] == expected["id"], error["code"] == wanted["code"],
            error["message"] == wanted["message"]
        else { return false }
        var isEqual = true
        wanted["data"]?.forEachMember { (name: String, value: JSON) in
            if error["data"]?[name] != value { isEqual = false }
        }
        return isEqual
    }
}
