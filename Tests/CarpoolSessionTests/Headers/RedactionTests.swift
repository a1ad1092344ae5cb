import CarpoolHTTP
import CarpoolSession
import Testing

/// What other clients may read of URLs and of texts that contain them.
struct RedactionTests {
    @Test("A5: the names and texts of secrets.jsonl")
    func vectors() throws {
        for row in try Vectors.rows("secrets") {
            if let name = row["name"]?.string {
                #expect(SecretNames.contains(name) == row["secret"]?.bool, "\(name)")
            } else {
                let text = try #require(row["text"]?.string)
                #expect(Redaction.withoutSecrets(text) == row["shown"]?.string, "\(text)")
            }
        }
    }

    @Test(
        "Passwords are removed from every text that might be parsed as a URL",
        arguments: [
            ("http://a.test/", "http://a.test/"), ("http://u:p@a.test/", "http://a.test/"),
            ("http://u@a.test/?q=x@y", "http://a.test/?q=x@y"), ("http://a.test/x@y", "http://a.test/x@y"),
            ("http://a.test?x@y", "http://a.test?x@y"), ("http://a.test#x@y", "http://a.test#x@y"),
            ("http://u:p@q@a.test/", "http://a.test/"), ("HTTPS://u:p@a.test", "HTTPS://a.test"),
            ("http:/u:p@a.test/", "http:/a.test/"), ("http:///u:p@a.test/", "http:///a.test/"),
            ("http:u:p@a.test/", "http:a.test/"), ("u:p@a.test", "u:a.test"), ("no url", "no url"), ("", ""),
            ("@", "@"),
            (":@", ":"),
        ])
    func redaction(_ url: String, _ expected: String) {
        #expect(Redaction.withoutUserInformation(url) == expected)
    }

    @Test(
        "Each part of a text is searched once, and every password is found",
        arguments: [
            (#"http://a/@:\\b:\\u:p@c"#, #"http://a/@:\\c"#), (#":\\a:\\u:p@b:\\c@d"#, #":\\d"#),
            ("x://u:p@a y://v:q@b", "x://a y://b"), ("x://a:1 y://v@b", "x://a:1 y://b"),
        ])
    func authorities(_ text: String, _ expected: String) { #expect(Redaction.withoutSecrets(text) == expected) }

    @Test("A text that is examined in part ends where it was examined", arguments: ["b=1", "key=1"])
    func parts(_ first: String) {
        let url = "http://a.test/?\(first)&a=\(String(repeating: "x", count: 100))&token=secret"
        let shown = Redaction.withoutSecrets(url, atLeast: 30)
        #expect(shown.utf8.count >= 30 && !shown.contains("secret"))
    }

    @Test("Every password that the parser finds is redacted", arguments: ["", "/", "//", "///"])
    func agreement(_ slashes: String) throws {
        let text = "http:\(slashes)user:secret@a.test/"
        #expect(!Redaction.withoutUserInformation(text).contains("secret"))
        guard let url = try? HTTPURL(text) else { return }
        #expect(!url.description.contains("secret"))
    }
}
