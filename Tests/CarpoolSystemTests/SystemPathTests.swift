import CarpoolSystem
import Glibc
import Testing

/// Paths whose bytes are not UTF-8.
struct SystemPathTests {
    @Test(
        "A path has one text, and the text its bytes",
        arguments: [
            ([0x2F, 0x61], "/a"), (Array("/é🚗".utf8), "/é🚗"), ([0x2F, 0xE9], "/\u{10FEE9}"),
            ([0x80, 0xFF], "\u{10FE80}\u{10FEFF}"), ([0xC3], "\u{10FEC3}"),
            (Array("\u{10FEE9}".utf8), "\u{10FEF4}\u{10FE8F}\u{10FEBB}\u{10FEA9}"),
            (Array("\u{10FF00}\u{10FE7F}".utf8), "\u{10FF00}\u{10FE7F}"),
            ([0xED, 0xB3, 0xA9], "\u{10FEED}\u{10FEB3}\u{10FEA9}"), ([0xF4, 0x8F], "\u{10FEF4}\u{10FE8F}"), ([], ""),
        ] as [([UInt8], String)])
    func texts(_ bytes: [UInt8], _ text: String) {
        #expect(SystemPath.text(bytes) == text)
        #expect(SystemPath.bytes(of: text) == bytes)
        #expect(SystemPath.withBytes(text) { strlen($0) } == bytes.count)
        #expect(SystemPath.withBytes(text) { SystemPath.text($0) } == text)
        #expect(SystemPath.hasBytes(text) == text.unicodeScalars.contains { (0x10FE80...0x10FEFF).contains($0.value) })
    }

    @Test("All byte strings come back")
    func comeBack() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                [0xF4, 0x8F, 0xBA, 0xBB, 0xE9, 0x61, UInt8.random(in: 1...255, using: &generator)]
                    .randomElement(using: &generator) ?? 1
            }
            #expect(SystemPath.bytes(of: SystemPath.text(bytes)) == bytes, "\(bytes)")
        }
    }

    @Test("Bytes are shown as in other languages")
    func shown() { #expect(PlainText.escaped("/caf\u{10FEE9}\u{202e}") == "/caf\\xe9\\u{202e}") }
}
