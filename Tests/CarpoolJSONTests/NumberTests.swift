import CarpoolJSON
import Testing

struct NumberTests {
    private func written(_ text: String) throws -> String {
        var writer = JSONWriter()
        writer.value(try JSON.parse(Array(text.utf8)))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static let spellings = [
        "0", "-0", "-1", "1.0", "1.10", "-0.0", "1E2", "1e+2", "1e-999", "12345678901234567.89", "9223372036854775807",
        "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890",
        "9999E9999", "-1.5E+400", "1e309", "0.1000000000000000055511151231257827021181583404541015625",
        String(repeating: "7", count: 400), "1E0000000000000000000001",
    ]

    @Test("F4: a number keeps every byte of its spelling", arguments: spellings)
    func f4_keepsItsSpelling(_ number: String) throws {
        #expect(try written(number) == number)
        let text = #"{"n":[\#(number),"\#(number)",{"\#(number)":\#(number)}],"s":"\#(number)"}"#
        #expect(try written(text) == text)
        #expect(try JSON.parse(Array(text.utf8))["n"]?[index: 0]?.numberText == number)
        #expect(try JSON.parse(Array(text.utf8))["s"]?.kind == .string)
    }

    @Test func values() throws {
        let json = try JSON.parse(Array("[9223372036854775807,-9223372036854775808,1e308,1e-999,1e999,-0,1E2]".utf8))
        #expect(json[index: 0]?.integer == .max && json[index: 1]?.integer == .min)
        #expect(json[index: 2]?.double == 1e308 && json[index: 3]?.double == 0 && json[index: 4]?.double == nil)
        #expect(json[index: 5]?.kind == .integer && json[index: 5]?.integer == 0)
        #expect(json[index: 6]?.kind == .real && json[index: 6]?.integer == nil && json[index: 4]?.kind == .bigNumber)
        #expect(try JSON.parse(Array("18446744073709551616".utf8)).double == 18446744073709551616.0)
    }

    @Test("A1: no other text is read as a number")
    func a1_nothingForgesANumber() throws {
        // The tree holds an index in place of a number. A real number, a string, and a name that look like one are not
        // indices.
        let text = #"{"0.0":"1.0","1.0":0.0,"-1.0":-1.0,"x":["0.0",0,-1,2.5,9999E9999,"\"9999E9999"],"9999E9999":1.5}"#
        #expect(try written(text) == text)
        let json = try JSON.parse(Array(text.utf8))
        #expect(json["1.0"]?.double == 0 && json["-1.0"]?.double == -1 && json["0.0"]?.string == "1.0")
        #expect(json["x"]?[index: 0]?.kind == .string && json["x"]?[index: 1]?.integer == 0)
    }

    @Test("A1, F2: a number in the place of a name is refused")
    func f2_numberAsName() {
        for text in ["{9999E9999:1}", "{1:1}", "{-0:1}", "[{123456789012345678901234567890:1}]"] {
            let error = #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8)) }
            #expect(error?.code == .syntax)
        }
    }

    @Test("Numbers and large values of a text are not confused")
    func mixed() throws {
        let long = String(repeating: "y", count: 5_000)
        let inner = #"{"a":1.50,"b":["\#(long)",2E0,{"c":["\#(long)",-0]}],"d":3.0}"#
        let text = #"{"p":0.10,"big":\#(inner),"q":[4.0,\#(inner),"\#(long)"],"r":5.0}"#
        #expect(try written(text) == text)
        let json = try JSON.parse(Array(text.utf8))
        #expect(json["big"]?.kind == .object && json["big"]?.count == 3 && json["big"]?["a"]?.numberText == "1.50")
        #expect(json["big"]?["b"]?[index: 2]?["c"]?[index: 1]?.numberText == "-0")
        #expect(json["q"]?[index: 1]?["d"]?.numberText == "3.0" && json["q"]?[index: 2]?.string == long)
        #expect(json["r"]?.numberText == "5.0" && json["p"]?.numberText == "0.10")
        #expect(try JSON.parse(Array(text.utf8)) == json)
        #expect(try JSON.parse(Array(inner.utf8)) == json["big"])
    }
}
