@testable import CarpoolJSON
import Testing

struct JSONTextTests {
    @Test(
        "A text keeps its spelling, less its blanks",
        arguments: [
            (#"{"a":1}"#, #"{"a":1}"#), (" [ 1 , 2 ]\n", "[1,2]"), ("null", "null"), (" true", "true"),
            ("\"é\"", "\"é\""),
            (#"{ "a" : { "b" : [ ] , "c" : { } } , "d" : "x y" }"#, #"{"a":{"b":[],"c":{}},"d":"x y"}"#),
            (
                "[-0,1.50,1e+5,1E-7,123456789012345678901234567890]",
                "[-0,1.50,1e+5,1E-7,123456789012345678901234567890]"
            ),
            (#"["\"\\\/\b\f\n\r\tA"]"#, #"["\"\\\/\b\f\n\r\tA"]"#), (#""  ""#, #""  ""#), ("\"\u{7F}\"", #""\u007f""#),
            (#" {"\u0061" : "\ud83d\ude00"}"#, #"{"\u0061":"\ud83d\ude00"}"#),
        ])
    func plain(_ text: String, _ expected: String) throws {
        #expect(String(decoding: try JSONText(Array(text.utf8)).bytes, as: UTF8.self) == expected)
    }

    @Test("Bytes that are no UTF-8 are refused")
    func encoding() {
        #expect(throws: JSONError.self) { try JSONText([0x22, 0xFF, 0x22]) }
    }

    @Test("Of 20,000 damaged texts it accepts those that the parser accepts, with the same value")
    func damaged() throws {
        var random = SeededGenerator(seed: 7)
        let seed = Array(
            #"{"a":[1,-2.5e3,true,null],"b":{"c":"xA\n","d":""},"e":"é","f":[{"g":0},{}]} "#.utf8)
        var taken = 0
        for _ in 0..<20_000 {
            var text = seed
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text.remove(at: place)
                case 1: text[place] = Array("{}[],:\"\\ 0e-.tu".utf8).randomElement(using: &random) ?? 0
                default: text.insert(UInt8.random(in: 0...255, using: &random), at: place)
                }
            }
            let json = try? JSON.parse(text)
            let compact = (try? JSONText(text))?.bytes
            #expect((json == nil) == (compact == nil))
            guard let compact else { continue }
            taken += 1
            #expect(try JSON.parse(compact) == JSON.parse(text))
            #expect(!compact.contains(0x0A))
        }
        #expect(taken > 1_000)
    }
}
