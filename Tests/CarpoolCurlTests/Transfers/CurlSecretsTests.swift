import Testing

@testable import CarpoolCurl

struct CurlSecretsTests {
    @Test(
        "A user without a colon lacks a password",
        arguments: [("u", true), ("", true), ("u;options", true), ("u:", false), (":p", false), (";options", false)])
    func lacks(_ user: String, _ expected: Bool) {
        #expect(CurlSecrets.lacksPassword(user) == expected)
    }

    @Test func questionsAreThoseOfCurl() {
        #expect(CurlSecrets.question("host", "ada", nil) == "Enter host password for user 'ada':")
        #expect(CurlSecrets.question("proxy", "ada", 2) == "Enter proxy password for user 'ada' on URL #2:")
    }
}
