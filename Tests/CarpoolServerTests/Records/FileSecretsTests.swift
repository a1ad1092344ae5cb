import CarpoolHTTP
@testable import CarpoolServer
import Testing

struct FileSecretsTests {
    @Test("A value is hidden as long as something holds it, in fields of any name")
    func hold() throws {
        let secrets = FileSecrets()
        let fields = [try HTTPField(name: "A", value: " s3cret "), try HTTPField(name: "B", value: "open")]
        #expect(secrets.hidden(fields) == fields)
        var first: FileSecrets.Hold? = secrets.hide(["s3cret ", "other"])
        var second: FileSecrets.Hold? = secrets.hide(["s3cret"])
        #expect(secrets.hidden(fields).map(\.value) == ["(hidden)", "open"])
        withExtendedLifetime(first) { first = nil }
        #expect(secrets.contains("s3cret") && !secrets.contains("other"))
        withExtendedLifetime(second) { second = nil }
        #expect(!secrets.contains("s3cret"))
    }
}
