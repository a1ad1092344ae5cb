import CarpoolJSON
import Testing

@Suite struct BigNumberTests {
    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "1e999", "-1.5E+400",
        "1e309",
    ])
    func keepsItsText(_ number: String) throws {
        let json = try JSON.parse(Array(#"{"n":[\#(number),"1e999"],"s":"\#(number)"}"#.utf8))
        #expect(json["n"]?[index: 0]?.kind == .bigNumber)
        #expect(json["n"]?[index: 0]?.string == nil && json["n"]?[index: 0]?.integer == nil)
        #expect(json["s"]?.kind == .string && json["s"]?.string == number)
        var writer = JSONWriter()
        writer.value(json)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"n":[\#(number),"1e999"],"s":"\#(number)"}"#)
    }

    @Test func standsAloneAtTheTop() throws {
        let json = try JSON.parse(Array("18446744073709551616".utf8))
        #expect(json.kind == .bigNumber && json.double == 18446744073709551616.0)
        #expect(try JSON.parse(Array("1e999".utf8)).double == nil)
    }

    @Test func leavesNumbersThatFit() throws {
        let json = try JSON.parse(Array("[9223372036854775807,-9223372036854775808,1e308,1e-999,1e999]".utf8))
        #expect(json[index: 0]?.integer == .max && json[index: 1]?.integer == .min)
        #expect(json[index: 2]?.double == 1e308 && json[index: 3]?.double == 0)
    }

    @Test func strangersCannotForgeOne() throws {
        // A string of a document with a big number in it, of the length that a marked number has.
        let json = try JSON.parse(Array(#"["AAAAAAAAAAAAAAAA1e999", 1e999, "\"1e999"]"#.utf8))
        #expect(json[index: 0]?.kind == .string && json[index: 2]?.string == "\"1e999")
    }

    @Test(arguments: [
        "[099999999999999999999]", "[1e999", "[1.e999]", "[-e999, 1e999]", "[1e999e1]", "[\"1e999]", "[1e999\"\\",
    ])
    func leavesTheRestToTheParser(_ text: String) {
        #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8)) }
    }
}
