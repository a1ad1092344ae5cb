import Testing

@testable import CarpoolCurl

struct CurlPercentTests {
    @Test func everyByteIsEncodedAndDecoded() {
        let bytes = (0...255).map { UInt8($0) }
        let encoded = CurlPercent.encode(bytes)
        #expect(encoded.count == 66 + 190 * 3)
        #expect(encoded.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(CurlPercent.decode(encoded) == bytes)
        #expect(CurlPercent.encodeForm("a b+é~".utf8).text == "a+b%2B%C3%A9~")
    }

    @Test(arguments: [("%", "%"), ("%4", "%4"), ("%41", "A"), ("%zz%4g%%41", "%zz%4g%A"), ("%2f%2F", "//"), ("", "")])
    func onlyEscapesAreDecoded(_ text: String, _ expected: String) {
        #expect(CurlPercent.decode(text.utf8).text == expected)
    }
}
