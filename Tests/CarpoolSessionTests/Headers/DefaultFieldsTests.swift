import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolSession
import CarpoolSystem
import Testing

struct DefaultFieldsTests {
    @Test("HH-09: falling weights")
    func quality() throws {
        let rows = try Vectors.rows("quality")
        #expect(rows.count > 5)
        for row in rows {
            var values: [String] = []
            row["values"]?.forEachElement { values.append($0.string ?? "") }
            #expect(HTTPField.qualityEncoded(values) == row["output"]?.string)
        }
    }

    @Test("HH-06: the codings that can be decoded")
    func codings() { #expect(DefaultFields.acceptEncoding == "br;q=1.0, gzip;q=0.9, deflate;q=0.8") }

    @Test(
        "HH-07: languages from the environment",
        arguments: [
            ([:], "en"), (["LANG": "de_DE.UTF-8"], "de-DE"), (["LANG": "C"], "en"), (["LANG": "C.UTF-8"], "en"),
            (["LC_ALL": "POSIX", "LANGUAGE": "de"], "en"), (["LANG": "fr_FR", "LC_MESSAGES": "it_IT@euro"], "it-IT"),
            (["LANG": "fr_FR", "LC_MESSAGES": "it_IT", "LC_ALL": "es"], "es"),
            (["LANGUAGE": "de_AT:de:en_GB", "LANG": "de_DE.UTF-8"], "de-AT de en-GB de-DE"), (["LANGUAGE": "sv"], "sv"),
            (["LANGUAGE": "a1:b1:c1:d1:e1:f1:g1", "LANG": "h1"], "a1 b1 c1 d1 e1 f1"),
            (["LANG": "de\r\nX: y"], "en"), (["LANGUAGE": "::de::de", "LANG": "de"], "de"),
            (["LANG": "waytoolongforatag"], "en"), (["LANG": "*"], "en"),
        ] as [([String: String], String)])
    func languages(variables: [String: String], tags: String) {
        #expect(DefaultFields.languages(from: Environment(variables)).joined(separator: " ") == tags)
    }

    @Test("HH-07: at most six, and weights") func acceptLanguage() {
        #expect(DefaultFields.acceptLanguage(["de-DE", "en"]) == "de-DE;q=1.0, en;q=0.9")
        #expect(DefaultFields.acceptLanguage([]) == "en;q=1.0")
        #expect(DefaultFields.acceptLanguage(Array(repeating: "x", count: 9)).hasSuffix("x;q=0.5"))
    }

    @Test("HH-08: the client's name is always a legal product") func userAgent() throws {
        let release = Release.version
        #expect(
            DefaultFields.userAgent(client: "my tool", version: "1.2", system: "Linux 6.1.0-13-amd64")
                == "my_tool/1.2 (Linux 6.1.0-13-amd64) Carpool/\(release)")
        #expect(
            DefaultFields.userAgent(client: nil, version: "", system: "a(b)\\c\n")
                == "Unknown/Unknown (abc) Carpool/\(release)")
        for name in ["é\r\nX: y", "(", "😃", "a/b", String(repeating: "x", count: 10_000)] {
            let value = DefaultFields.userAgent(client: name, version: name)
            #expect(try HTTPField(name: "User-Agent", value: value).value == value)
            #expect(value.utf8.count < 400)
            #expect(value.prefix { $0 != " " }.filter { $0 == "/" }.count == 1)
        }
        #expect(DefaultFields.system.hasPrefix("Linux "))
        let fields = DefaultFields.fields(client: "c", version: "1", languages: ["de"])
        #expect(fields.map(\.name) == ["Accept-Encoding", "Accept-Language", "User-Agent"])
    }
}
