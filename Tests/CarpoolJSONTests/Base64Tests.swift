import CarpoolJSON
import Testing

@Suite struct Base64Tests {
    private func encoded(_ bytes: [UInt8]) -> String {
        var output: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &output) }
        return String(decoding: output, as: UTF8.self)
    }

    private func decoded(_ text: String) throws(JSONError) -> [UInt8] {
        try Array(text.utf8).withUnsafeBufferPointer { (buffer) throws(JSONError) in
            try Base64.decode(UnsafeRawBufferPointer(buffer))
        }
    }

    /// The test vectors of RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func agreesWithTheStandard(_ plain: String, _ code: String) throws {
        #expect(encoded(Array(plain.utf8)) == code)
        #expect(try decoded(code) == Array(plain.utf8))
    }

    @Test func bytesReadBackTheSame() throws {
        for length in 0..<300 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ length) }
            #expect(try decoded(encoded(bytes)) == bytes)
        }
    }

    @Test(arguments: ["Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm-v", "Zg==Zg==", "Z=g="])
    func refuses(_ text: String) {
        let error = #expect(throws: JSONError.self) { try decoded(text) }
        #expect(error?.code == .base64)
    }
}
