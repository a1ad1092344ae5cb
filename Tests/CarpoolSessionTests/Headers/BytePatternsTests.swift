import Testing

@testable import CarpoolSession

struct BytePatternsTests {
    let patterns = BytePatterns(["key", "keyword", "token"])

    private func bytes(_ text: String, _ ask: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer(ask)
    }

    @Test(arguments: ["key", "akey", "keya", "xtoken", "tokentoken", "monkey"]) func onesThatAreThere(_ text: String) {
        #expect(bytes(text, patterns.matches(in:)))
    }

    @Test(arguments: ["", "k", "ke", "toke", "kEy", "tok en"]) func onesThatAreNot(_ text: String) {
        #expect(!bytes(text, patterns.matches(in:)))
        #expect(!bytes(text, patterns.matches(atEndOf:)))
        #expect(!bytes(text, patterns.matches(equalTo:)))
    }

    @Test func theEndAndTheWhole() {
        #expect(bytes("monkey", patterns.matches(atEndOf:)))
        #expect(!bytes("keys", patterns.matches(atEndOf:)))
        #expect(bytes("keyword", patterns.matches(equalTo:)))
        #expect(!bytes("keywords", patterns.matches(equalTo:)))
    }
}
