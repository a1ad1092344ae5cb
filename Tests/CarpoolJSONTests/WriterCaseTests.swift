import CarpoolJSON
import Foundation
import Testing

/// Tests/Support/writer-cases.jsonl: JSON texts and the writer's output for them. A Python test reads the same cases
/// and finds the same values in both texts, so that the writer is not judged by the parser that it is paired with
/// alone.
@Suite struct WriterCaseTests {
    @Test func writesAsTheCasesSay() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let lines = try Data(contentsOf: tests.appending(path: "Support/writer-cases.jsonl"))
            .split(separator: UInt8(ascii: "\n"))
        #expect(lines.count >= 30)
        for line in lines {
            let json = try JSON.parse(Array(line))
            let text = try #require(json["text"]?.withUTF8 { Array($0) })
            var writer = JSONWriter()
            writer.value(try JSON.parse(text))
            #expect(String(decoding: writer.bytes, as: UTF8.self) == json["written"]?.string)
        }
    }
}
