@testable import CarpoolJSON
import Foundation
import Testing

struct JSONTokenizerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: [UInt8]
        let isValid: Bool
        let testDescription: String
    }

    static let rows: [Row] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Support/vectors/json.jsonl")
        guard let data = try? Data(contentsOf: file) else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let row = try? JSON.parse(Array(line)), let isValid = row["valid"]?.bool else { return nil }
            let text = row["base64"]?.string.flatMap { Data(base64Encoded: $0) }.map(Array.init)
            return Row(
                text: text ?? Array((row["text"]?.string ?? "").utf8), isValid: isValid,
                testDescription: "\(row["rule"]?.string ?? "") \(row["note"]?.string ?? "")")
        }
    }()

    @Test func theTableIsThere() { #expect(JSONTokenizerTests.rows.count >= 160) }

    @Test("F1, F2, F3: each rule of RFC 8259", arguments: rows)
    func rule(_ row: Row) throws {
        #expect(((try? JSON.parse(row.text)) != nil) == row.isValid)
        #expect(((try? JSONText(row.text)) != nil) == row.isValid)
        guard row.isValid else { return }
        var writer = JSONWriter()
        writer.value(try JSON.parse(row.text))
        #expect(try JSON.parse(writer.bytes) == JSON.parse(row.text))
    }

    @Test(
        "JSONTestSuite: every y_ is accepted, every n_ refused",
        .enabled(if: ProcessInfo.processInfo.environment["JSON_SUITE"] != nil, "JSON_SUITE names its folder"))
    func suite() throws {
        var folder = URL(filePath: ProcessInfo.processInfo.environment["JSON_SUITE"] ?? "")
        if FileManager.default.fileExists(atPath: folder.appending(path: "test_parsing").path) {
            folder.append(path: "test_parsing")
        }
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
        #expect(files.count >= 318)
        for file in files {
            let text = Array(try Data(contentsOf: file))
            let isAccepted = (try? JSON.parse(text)) != nil
            switch file.lastPathComponent.prefix(2) {
            case "y_": #expect(isAccepted, "\(file.lastPathComponent)")
            case "n_": #expect(!isAccepted, "\(file.lastPathComponent)")
            default: break
            }
        }
    }

    @Test("F3: U+0000 in a name is a character like any other")
    func f3_nullInNames() throws {
        let text = #"{"a":1,"a\u0000":2.50,"\u0000":{"\u0001":3,"\u0001\u0002":4},"\u0001\u0001":5}"#
        let json = try JSON.parse(Array(text.utf8))
        #expect(json["a"]?.int == 1 && json["a\0"]?.numberText == "2.50" && json["a\u{1}\u{2}"] == nil)
        #expect(json["\0"]?["\u{1}"]?.int == 3 && json["\0"]?["\u{1}\u{2}"]?.int == 4 && json["\0"]?["\0"] == nil)
        var names: [String] = []
        json.forEachMember { name, _ in names.append(name) }
        #expect(names == ["a", "a\0", "\0", "\u{1}\u{1}"])
        var writer = JSONWriter()
        writer.value(json)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
        let schema = JSONSchema.object([.optional("a", .any, "")])
        let error = #expect(throws: JSONError.self) { try schema.validate(json, path: "p") }
        #expect(error?.path == "p.a\0")
    }

    @Test("A name that stands twice is JSON: its text is kept, the last value counts, and readers can see it")
    func duplicates() throws {
        let text = #"[{"a":1,"b":[2],"\u0061":3.50},{"c":{"d":1,"d":1,"d":[]}},{"a":1}]"#
        let json = try JSON.parse(Array(text.utf8))
        var writer = JSONWriter()
        writer.value(json)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
        #expect(try String(decoding: JSONText(Array(text.utf8)).bytes, as: UTF8.self) == text)
        let (first, second) = (try #require(json[index: 0]), try #require(json[index: 1]?["c"]))
        #expect((first.kind, first.count, first["a"]?.numberText) == (.object, 2, "3.50"))
        #expect((second.count, second["d"]?.kind) == (1, .array))
        #expect((json.duplicateName, first.duplicateName, second.duplicateName) == (nil, "a", "d"))
        #expect(json[index: 1]?.duplicateName == nil && json[index: 2]?.duplicateName == nil)
        #expect(try JSON.parse(writer.bytes) == json)
        let whole = try JSON.parse(Array(#"{"a":1,"b":2,"a":3}"#.utf8))
        #expect((whole.duplicateName, whole.count, whole["a"]?.int) == ("a", 2, 3))
    }

    @Test("A schema refuses a name that stands twice, in objects and in maps, and looks into no free value")
    func schemasRefuseDuplicates() throws {
        let schema = JSONSchema.object([
            .optional("free", .any, ""), .optional("map", .map(of: .any), ""),
            .optional("inner", .oneOf(.object([.required("x", .any, "")]), .string), ""),
        ])
        func path(_ text: String) throws -> String? {
            let json = try JSON.parse(Array(text.utf8))
            do throws(JSONError) { try schema.validate(json, path: "p") } catch { return error.path }
            return nil
        }
        #expect(try path(#"{"free":{"a":1,"a":2},"map":{"b":{"c":1,"c":2}},"inner":{"x":[{"y":1,"y":2}]}}"#) == nil)
        #expect(try path(#"{"free":1,"fre\u0065":2}"#) == "p.free")
        #expect(try path(#"{"map":{"k":1,"k":2}}"#) == "p.map.k")
        #expect(try path(#"{"inner":{"x":1,"x":2}}"#) == "p.inner.x")
    }

    @Test(
        "Very many objects in which a name stands twice are read in time that grows with their number",
        .timeLimit(.minutes(1)))
    func manyAmbiguousObjects() throws {
        let objects = 70_000
        let text = "[\([String](repeating: #"{"a":1,"a":2}"#, count: objects).joined(separator: ","))]"
        let json = try JSON.parse(Array(text.utf8))
        var sum: Int64 = 0
        json.forEachElement { sum += $0["a"]?.integer ?? 0 }
        #expect(sum == 2 * Int64(objects))
        var writer = JSONWriter()
        writer.value(json)
        #expect(writer.bytes.elementsEqual(text.utf8))
    }

    @Test(
        "A name that is there twice is found among very many, in time that grows with their number",
        .timeLimit(.minutes(1)))
    func duplicatesAmongMany() throws {
        func duplicate(_ last: String) throws -> String? {
            let text = "{\((0..<100_000).map { "\"\($0)\":0" }.joined(separator: ",")),\(last)}"
            return try JSON.parse(Array(text.utf8)).duplicateName
        }
        #expect(try duplicate("\"100000\":0") == nil)
        for last in ["\"77777\":0", #""\u00377777":0"#] { #expect(try duplicate(last) == "77777") }
    }

    @Test func errorsSayWhere() {
        func place(_ text: String) -> (Int?, Int?, Int?) {
            let error = #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8)) }
            return (error?.line, error?.column, error?.offset)
        }
        #expect(place("{\n  \"a\": tru\n}") == (2, 11, 12))
        #expect(place("[1, 11111111111111111111, x]") == (1, 28, 27))
        #expect(place("[1e999,\n 1e999, {\"a\" 1}]") == (2, 15, 22))
        #expect(place("\"é\u{1}\"") == (1, 4, 3))
    }

    @Test("Tokenizing in pieces, as the framer does, and at once yield the same text")
    func prefix() {
        var tokenizer = JSONTokenizer(maximumDepth: 64)
        for row in JSONTokenizerTests.rows {
            guard let first = row.text.first(where: { $0 > 0x20 }), first == 0x7B || first == 0x5B else { continue }
            let isRead = (row.text + Array(" {\"".utf8)).withUnsafeBytes { tokenizer.readPrefix(of: $0) }
            if row.isValid { #expect(isRead) }
            guard isRead else { continue }
            let root = (row.text + Array(" {\"".utf8)).withUnsafeBytes { Array(tokenizer.outline.root.bytes(of: $0)) }
            #expect((try? JSON.parse(root)) != nil)
        }
    }
}
