import Testing

@testable import CarpoolSession

struct BytePatternsTests {
    let patterns = BytePatterns(["key", "keyword", "token"])

    private func bytes(_ text: String, _ ask: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer(ask)
    }

    @Test(arguments: ["key", "akey", "keya", "xtoken", "tokentoken", "monkey"]) func onesThatAreThere(_ text: String) {
        #expect(bytes(text, patterns.haveOne(in:)))
    }

    @Test(arguments: ["", "k", "ke", "toke", "kEy", "tok en"]) func onesThatAreNot(_ text: String) {
        #expect(!bytes(text, patterns.haveOne(in:)))
        #expect(!bytes(text, patterns.haveOne(atEndOf:)))
        #expect(!bytes(text, patterns.haveOne(equalTo:)))
    }

    @Test func theEndAndTheWhole() {
        #expect(bytes("monkey", patterns.haveOne(atEndOf:)))
        #expect(!bytes("keys", patterns.haveOne(atEndOf:)))
        #expect(bytes("keyword", patterns.haveOne(equalTo:)))
        #expect(!bytes("keywords", patterns.haveOne(equalTo:)))
    }
}
