@testable import CarpoolSession
import Testing

struct BasicCredentialTests {
    @Test(
        "RFC 7617, section 2",
        arguments: [
            ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123\u{A3}", "dGVzdDoxMjPCow=="),
            ("", "", "Og=="),
        ])
    func token(_ user: String, _ password: String, _ expected: String) {
        #expect(BasicCredential.token(user: user, password: password) == expected)
    }
}
