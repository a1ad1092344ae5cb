import CarpoolSystem
import Testing

struct FieldTextTests {
    @Test(
        "UTF-8 is read as such, and anything else as ISO-8859-1",
        arguments: [
            (Array("café".utf8), "café"), ([0x63, 0x61, 0x66, 0xE9], "café"), ([0xC3], "Ã"),
            ([0xFF, 0x80, 0x41], "ÿ\u{80}A"), ([], ""),
        ] as [([UInt8], String)])
    func text(_ bytes: [UInt8], _ text: String) {
        #expect(bytes.withUnsafeBytes { FieldText.text(of: $0) } == text)
    }

    @Test("A field of the maximum size that is not UTF-8")
    func maximum() {
        let bytes = [UInt8](repeating: 0xE9, count: 100_000)
        let text = bytes.withUnsafeBytes { FieldText.text(of: $0) }
        #expect(text.utf8.count == 200_000 && text.unicodeScalars.allSatisfy { $0 == "é" })
    }
}
