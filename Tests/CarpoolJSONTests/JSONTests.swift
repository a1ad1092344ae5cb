import Testing

@testable import CarpoolJSON

@Suite struct JSONTests {
    @Test func readsEveryKind() throws {
        let json = try JSON.parse(Array(#"{"o":{},"a":[1,"x"],"s":"é","i":-7,"r":0.5,"t":true,"n":null}"#.utf8))
        #expect(json.kind == .object && json.count == 7)
        #expect(json["o"]?.kind == .object && json["a"]?.count == 2)
        #expect(json["a"]?[index: 1]?.string == "x" && json["a"]?[index: 2] == nil && json["a"]?[index: -1] == nil)
        #expect(json["s"]?.string == "é" && json["s"]?.integer == nil)
        #expect(json["i"]?.integer == -7 && json["i"]?.double == -7 && json["i"]?.int == -7)
        #expect(json["r"]?.double == 0.5 && json["r"]?.integer == nil && json["r"]?.kind == .real)
        #expect(json["t"]?.bool == true && json["n"]?.isNull == true && json["absent"] == nil)
        let name = "s"
        #expect(json[name]?.string == "é")
    }

    @Test func keepsTheOrderOfMembers() throws {
        let json = try JSON.parse(Array(#"{"z":1,"a":2,"m":3}"#.utf8))
        var names: [String] = []
        json.forEachMember { name, _ in names.append(name) }
        #expect(names == ["z", "a", "m"])
    }

    @Test("A long string has no members, and no tree of it is made to find that out", arguments: [3, 50_000])
    func longString(_ count: Int) throws {
        let text = String(repeating: "é", count: count)
        let value = try #require(try JSON.parse(Array(#"{"text":"\#(text)"}"#.utf8))["text"])
        #expect(value["text"] == nil && value[index: 0] == nil && value.duplicateName == nil && value.string == text)
        #expect(!value.isText || value.document.part(value.node) == nil)
    }

    @Test func acceptsNULInStrings() throws {
        let json = try JSON.parse(Array(#"["a\u0000b"]"#.utf8))
        #expect(json[index: 0]?.string == "a\0b")
        #expect(json[index: 0]?.withUTF8 { $0.count } == 3)
    }

    @Test(arguments: [
        (#"{"a":1"#, JSONError.Code.incomplete), ("[1,]", .syntax),
        ("", .incomplete),
        ("{'a':1}", .syntax), ("[01]", .syntax), ("// x\n1", .syntax), ("[\"\u{1}\"]", .syntax), ("1 2", .syntax),
        (#""\ud800""#, .syntax), ("[1e]", .syntax), ("NaN", .syntax),
    ])
    func refuses(_ text: String, _ code: JSONError.Code) {
        let error = #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8)) }
        #expect(error?.code == code, "\(String(describing: error))")
    }

    @Test func refusesWhatIsNotUTF8() {
        let error = #expect(throws: JSONError.self) { try JSON.parse([0x22, 0xFF, 0x22]) }
        #expect(error?.code == .invalidUTF8)
    }

    @Test func nestsAsDeepAsTheParserGoes() throws {
        let deep =
            [UInt8](repeating: UInt8(ascii: "["), count: 2000) + [UInt8](repeating: UInt8(ascii: "]"), count: 2000)
        var writer = JSONWriter()
        writer.value(try JSON.parse(deep))
        #expect(writer.bytes == deep)
        let tooDeep = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        #expect(#expect(throws: JSONError.self) { try JSON.parse(tooDeep) }?.code == .tooDeep)
    }

    @Test func comparesValues() throws {
        let left = try JSON.parse(Array(#"{"a":1,"b":[true]}"#.utf8))
        #expect(try JSON.parse(Array(#"{"b":[true],"a":1}"#.utf8)) == left)
        #expect(try JSON.parse(Array(#"{"b":[true],"a":1.0}"#.utf8)) != left)
    }

    @Test func randomBytesNeverCrash() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("{}[]\":,0123456789.eE+-tfn\\u \n\u{0}é".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
                Bool.random(using: &generator)
                    ? alphabet.randomElement(using: &generator) ?? 0 : UInt8.random(in: 0...255, using: &generator)
            }
            guard let json = try? JSON.parse(bytes) else { continue }
            var writer = JSONWriter()
            writer.value(json)
            #expect((try? JSON.parse(writer.bytes)) != nil)
        }
    }
}
