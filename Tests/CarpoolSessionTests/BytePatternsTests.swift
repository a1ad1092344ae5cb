import Testing

@testable import CarpoolSession

struct BytePatternsTests {
    let patterns = BytePatterns(["key", "keyword", "token"])

    @Test(arguments: ["key", "akey", "keya", "xtoken", "tokentoken", "monkey"]) func onesThatAreThere(_ text: String) {
        #expect(patterns.haveOne(in: Array(text.utf8)))
    }

    @Test(arguments: ["", "k", "ke", "toke", "kEy", "tok en"]) func onesThatAreNot(_ text: String) {
        #expect(!patterns.haveOne(in: Array(text.utf8)))
        #expect(!patterns.haveOne(atEndOf: Array(text.utf8)))
        #expect(!patterns.haveOne(equalTo: Array(text.utf8)))
    }

    @Test func theEndAndTheWhole() {
        #expect(patterns.haveOne(atEndOf: Array("monkey".utf8)))
        #expect(!patterns.haveOne(atEndOf: Array("keys".utf8)))
        #expect(patterns.haveOne(equalTo: Array("keyword".utf8)))
        #expect(!patterns.haveOne(equalTo: Array("keywords".utf8)))
    }
}
