import CarpoolJSON
import Testing

@Suite struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func placesCommas() {
        let text = written { writer in
            writer.beginObject()
            writer.key("a")
            writer.beginArray()
            writer.integer(1)
            writer.beginArray()
            writer.endArray()
            writer.beginObject()
            writer.endObject()
            writer.null()
            writer.endArray()
            writer.member("b", true)
            writer.member("c", "x")
            writer.member("skipped", nil as String?)
            writer.member("d", 5)
            writer.member("e", 0.25)
            writer.member("f", UInt16(9))
            writer.member("g", static: "s")
            writer.member("h", ["p", "q"])
            writer.key(String("i\n"))
            writer.raw(Array("[1]".utf8))
            writer.endObject()
        }
        #expect(
            text == #"{"a":[1,[],{},null],"b":true,"c":"x","d":5,"e":0.25,"f":9,"g":"s","h":["p","q"],"i\n":[1]}"#)
    }

    @Test func writesSeveralTextsIntoOneBuffer() {
        let text = written { writer in
            for number in 1...2 {
                writer.beginText()
                writer.integer(number)
                writer.append(verbatim: [UInt8(ascii: "\n")])
            }
        }
        #expect(text == "1\n2\n")
    }

    @Test func escapesWhatMustBe() {
        let text = written { $0.string("\"\\\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}/é\u{2028}") }
        #expect(text == #""\"\\\b\f\n\r\t\u0000\u001f\u007f/é"# + "\u{2028}\"")
    }

    @Test func escapesAtEveryPlace() throws {
        for length in 0..<40 {
            for place in 0..<max(1, length) {
                for byte: UInt8 in [0, 0x1F, 0x22, 0x5C, 0x7F, 0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7E] {
                    var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                    if length > 0 { bytes[place] = byte }
                    var writer = JSONWriter()
                    bytes.withUnsafeBytes { writer.string(utf8: $0) }
                    #expect(!writer.bytes.contains { $0 < 0x20 || $0 == 0x7F })
                    #expect(bytes.withUnsafeBytes(JSONWriter.encodedLength(ofText:)) == writer.bytes.count)
                    #expect(try JSON.parse(writer.bytes).string == String(decoding: bytes, as: UTF8.self))
                }
            }
        }
    }

    @Test func saysWhatIsNotUTF8() {
        let bad: [UInt8] = [0x61, 0xFF]
        #expect(written { writer in bad.withUnsafeBytes { writer.text($0) } } == #"{"base64":"Yf8="}"#)
        #expect(written { writer in bad.withUnsafeBytes { writer.string(utf8: $0) } } == "\"a\u{FFFD}\"")
        #expect(written { writer in Array("é".utf8).withUnsafeBytes { writer.text($0) } } == "\"é\"")
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(written { $0.text(empty) } == "\"\"" && written { $0.base64(empty) } == "\"\"")
    }

    @Test(arguments: [0, 1, 9, 10, -1, -10, 1234567890, Int.max, Int.min])
    func writesIntegers(_ value: Int) {
        #expect(written { $0.integer(value) } == "\(value)")
    }

    @Test func writesUnsignedIntegers() {
        #expect(written { $0.integer(UInt64.max) } == "18446744073709551615")
        #expect(written { $0.integer(UInt8.max) } == "255")
    }

    @Test func writesRealsShortest() {
        #expect(written { $0.real(0.1) } == "0.1" && written { $0.real(1) } == "1.0")
        #expect(written { $0.real(.infinity) } == "null" && written { $0.real(.nan) } == "null")
        #expect(written { $0.real(-0.0) } == "-0.0")
    }

    @Test func realsReadBackTheSame() throws {
        var generator = SeededGenerator(seed: 3)
        let edges = [Double.greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude, 1e16, 1e-5, 1e100]
        let random = (0..<20_000).map { _ in Double(bitPattern: UInt64.random(in: 0...UInt64.max, using: &generator)) }
        for value in edges + random where value.isFinite {
            var writer = JSONWriter()
            writer.real(value)
            #expect(try JSON.parse(writer.bytes).double?.bitPattern == value.bitPattern)
        }
    }

    @Test func stringsReadBackTheSame() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<5_000 {
            let scalars = (0..<Int.random(in: 0..<40, using: &generator)).compactMap { _ in
                Unicode.Scalar(
                    UInt32.random(in: 0...(Bool.random(using: &generator) ? 0x7F : 0x10FFFF), using: &generator))
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            var writer = JSONWriter()
            writer.string(text)
            let read = try JSON.parse(writer.bytes).string
            #expect(read.map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test(
        "A rewind restores whether a comma is due, at every position",
        arguments: [#"{"a":"x","#, #"{"a":1,"#, #"{"a":[],"#, #"{"a":{},"#, #"{"a":true,"#, "{"])
    func rewinds(_ prefix: String) throws {
        var writer = JSONWriter()
        writer.beginObject()
        switch prefix {
        case #"{"a":"x","#: writer.member("a", "x")
        case #"{"a":1,"#: writer.member("a", 1)
        case #"{"a":[],"#: writer.member("a", [String]())
        case #"{"a":{},"#:
            writer.key("a")
            writer.beginObject()
            writer.endObject()
        case #"{"a":true,"#: writer.member("a", true)
        default: break
        }
        let start = writer.count
        writer.member("long", "left out")
        writer.rewind(to: start)
        writer.key("b")
        let value = writer.count
        writer.string("taken back")
        writer.rewind(to: value)
        writer.integer(2)
        writer.endObject()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == prefix + #""b":2}"#)
    }
}
