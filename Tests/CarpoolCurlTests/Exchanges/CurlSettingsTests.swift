import CarpoolJSON
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolCurl

/// The parameters of connections that options become.
struct CurlSettingsTests {
    private static func settings(_ words: [String], _ variables: [String: String] = [:]) throws -> CurlSettings {
        let line = try CurlLine.read(words + ["u"])
        return try CurlSettings(line.invocation.operations[0], Environment(variables))
    }

    private static func written(
        _ words: [String], _ variables: [String: String] = [:], url: String = "https://h/"
    ) throws -> String {
        var writer = JSONWriter()
        writer.beginObject()
        try settings(words, variables).write(for: CurlURL(url), to: &writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func failure(_ read: () throws -> Void) -> CurlError? {
        do { try read() } catch { return error as? CurlError }
        return nil
    }

    @Test(
        "Trust",
        arguments: [
            ([], [:], "{}"), (["-k"], [:], #"{"trust":{"verify":false}}"#),
            (["--cacert", "/c"], [:], #"{"trust":{"ca_file":"/c"}}"#),
            (["--capath", "{d}"], [:], #"{"trust":{"ca_path":"{d}"}}"#),
            (["--cacert", "/c", "--capath", "{d}"], [:], #"{"trust":{"ca_file":"/c","ca_path":"{d}"}}"#),
            (["--capath", "{d}:/none:{e}:{f}"], [:], #"{"trust":{"ca_path":["{d}","{f}"]}}"#),
            (["--capath", "/none"], [:], "{}"),
            (["-k", "--cacert", "/c"], [:], #"{"trust":{"verify":false}}"#),
            ([], ["CURL_CA_BUNDLE": "/b", "SSL_CERT_FILE": "/f"], #"{"trust":{"ca_file":"/b"}}"#),
            ([], ["SSL_CERT_FILE": "/f", "SSL_CERT_DIR": "{d}"], #"{"trust":{"ca_file":"/f","ca_path":"{d}"}}"#),
            ([], ["SSL_CERT_DIR": "{e}:{d}"], #"{"trust":{"ca_path":"{d}"}}"#), ([], ["SSL_CERT_DIR": "{e}"], "{}"),
            ([], ["CURL_CA_BUNDLE": "/b", "SSL_CERT_DIR": "{d}"], #"{"trust":{"ca_file":"/b"}}"#),
            (["--capath", "{d}"], ["CURL_CA_BUNDLE": "/b"], #"{"trust":{"ca_path":"{d}"}}"#),
            (["-k"], ["CURL_CA_BUNDLE": "/b"], #"{"trust":{"verify":false}}"#),
        ] as [([String], [String: String], String)])
    func trust(_ words: [String], _ variables: [String: String], _ expected: String) throws {
        // Two folders with a certificate, and one without.
        let folder = try TemporaryFolder()
        for name in ["d", "e", "f"] { mkdir("\(folder.path)/\(name)", 0o700) }
        for name in ["d/ca.pem", "e/README", "f/0a1b2c3d.0"] { try folder.write(name, [65]) }
        func placed(_ text: String) -> String {
            ["d", "e", "f"].reduce(text) { $0.replacing("{\($1)}", with: "\(folder.path)/\($1)") }
        }
        let words = words.map(placed)
        let variables = variables.mapValues(placed)
        #expect(try Self.written(words, variables) == placed(expected))
        // The daemon would read the files in vain.
        #expect(try Self.written(words, variables, url: "http://h/") == "{}")
    }

    @Test(
        "A short file of authorities is sent as text",
        arguments: [("PEM\n", true), (String(repeating: "x", count: 16_384), true)] as [(String, Bool)]
            + [(String(repeating: "x", count: 16_385), false)])
    func authoritiesAsText(_ content: String, _ isSent: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.write("ca.pem", Array(content.utf8))
        let path = "\(folder.path)/ca.pem"
        let written = try Self.written(["--cacert", path])
        #expect(written.contains("ca_pem") == isSent)
        #expect(written.contains("\"ca_file\":\"\(path)\"") != isSent)
        #expect(try Self.written(["-k", "--cacert", path]) == #"{"trust":{"verify":false}}"#)
    }

    @Test func aFileThatIsNoTextIsReadByTheDaemon() throws {
        let folder = try TemporaryFolder()
        try folder.write("ca.pem", [0x2D, 0xE9, 0x0A])
        #expect(try Self.written(["--cacert", "\(folder.path)/ca.pem"]).contains("ca_file"))
        #expect(try Self.written(["--cacert", "/tmp"]).contains("ca_file"))
    }

    @Test func pinsAreRequiredOfEveryHost() throws {
        let pins = try Self.written(["--pinnedpubkey", "sha256//YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY="])
        #expect(pins.contains(#""pins":["sha256//YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY="]"#))
        #expect(pins.hasPrefix(#"{"trust":{"evaluators":{"*":{"composite":["#))
    }

    @Test(
        "A pin that no key has matches none, as in curl",
        arguments: [
            ("sha256//AAAA", ["A"]), ("sha256//x;sha256//y", ["A"]), ("sha256/AAAA", ["A"]), ("/nonexistent", ["A"]),
            (
                "sha256//x;sha256//YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=",
                ["YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY="]
            ),
        ])
    func pinsOfNoKey(_ text: String, _ expected: [String]) throws {
        let pins = expected.map { "\"sha256//\($0 == "A" ? String(repeating: "A", count: 43) + "=" : $0)\"" }
        let written = try Self.written(["--pinnedpubkey", text])
        #expect(written.contains("\"pins\":[\(pins.joined(separator: ","))]"), "\(written)")
    }

    @Test func aRefusedFileOfPinsIsCurlsMessage() throws {
        let message = "Invalid params: params.trust.evaluators.*.composite[0].public_keys.files[0]: holds no key"
        let failure = try Self.settings(["--pinnedpubkey", "/dev/null"]).failure(ofRefusal: message)
        #expect(failure?.exitCode == 90)
    }

    @Test(
        "Versions of TLS",
        arguments: [
            (["--tlsv1.2"], ["\"1.2\""]), (["-1"], ["\"1.0\""]), (["--tls-max", "1.2"], ["\"1.2\""]),
            (["--tls-max", "default"], ["\"1.3\""]), (["--tlsv1.1", "--tls-max", "1.3"], ["\"1.1\"", "\"1.3\""]),
        ])
    func versions(_ words: [String], _ texts: [String]) throws {
        let written = try Self.written(words)
        for text in texts { #expect(written.contains(text)) }
    }

    @Test(
        "Addresses: the last entry for a host counts",
        arguments: [
            (["--resolve", "h:80:1.1.1.1"], ["h:80:1.1.1.1"]),
            (["--resolve", "h:80:1.1.1.1", "--resolve", "h:80:2.2.2.2"], ["h:80:1.1.1.1", "h:80:2.2.2.2"]),
            (["--resolve", "+h:80:1.1.1.1"], ["h:80:1.1.1.1"]),
            (["--resolve", "h:80:1.1.1.1", "--resolve", "-h:80"], []),
            (["--resolve", "-h:80", "--resolve", "h:80:1.1.1.1"], ["h:80:1.1.1.1"]),
            (["--resolve", "hh:80:1.1.1.1", "--resolve", "-h:80"], ["hh:80:1.1.1.1"]),
            (["--resolve", "h:80:1.1.1.1", "--resolve", "h:8080:2.2.2.2", "--resolve", "-h:80"], ["h:8080:2.2.2.2"]),
        ])
    func addresses(_ words: [String], _ entries: [String]) throws {
        let parameters = try JSON.parse(Array(try Self.written(words).utf8))
        let resolve = parameters["addresses"]?["resolve"]
        #expect((0..<(resolve?.count ?? 0)).compactMap { resolve?[index: $0]?.string } == entries)
    }

    @Test func anEntryThatIsNoneIsAFailureOfTransfers() throws {
        for entry in ["bogus", "+h:80", "[::1]:80"] {
            let settings = try Self.settings(["--resolve", "h:80:1.1.1.1", "--resolve", entry])
            let message = "Couldn't parse CURLOPT_RESOLVE entry '\(entry)'"
            #expect(Self.failure { try settings.checkAddresses() } == CurlError(exitCode: 49, message: message))
        }
        let right = try Self.settings(["--resolve", "[::1]:80:[::2]", "--resolve", "-bogus"])
        #expect(Self.failure { try right.checkAddresses() } == nil)
    }

    @Test func aSecondHostThatIsMissingHasNoEffect() throws {
        let written = try Self.written(["--connect-to", "a:1", "--connect-to", "a:1:b", "--connect-to", "::b:"])
        #expect(written == #"{"addresses":{"connect_to":["a:1:b:","::b:"]}}"#)
    }

    @Test(
        "Ways to the host",
        arguments: [
            (["-4"], #""ipv4""#), (["-6"], #""ipv6""#), (["-4", "-6"], #""ipv6""#),
            (["--connect-to", "a:1:b:2"], #"["a:1:b:2"]"#), (["--unix-socket", "/s"], #""/s""#),
            (["--interface", "lo"], #""lo""#),
        ])
    func ways(_ words: [String], _ text: String) throws {
        #expect(try Self.written(words, url: "http://h/").contains(text))
    }

    @Test(
        "Files that cannot be read are failures of transfers over TLS",
        arguments: [
            (["--cacert", "/none"], 77, "error setting certificate file: /none"),
            (["--key", "/none"], 58, "unable to set private key file: '/none' type PEM"),
        ] as [([String], Int32, String)])
    func missing(_ words: [String], _ code: Int32, _ message: String) throws {
        let settings = try Self.settings(words)
        #expect(Self.failure { try settings.check() } == CurlError(exitCode: code, message: message))
    }

    @Test func aCertificateThatIsMissingIsAFailure() throws {
        let settings = try Self.settings(["-E", "/none:secret"])
        let failure = try #require(Self.failure { try settings.check() })
        #expect(failure.exitCode == 58)
        #expect(failure.message.hasPrefix("could not load PEM client certificate from /none, OpenSSL error"))
    }

    @Test func filesThatAreReadableAreNoFailure() throws {
        let folder = try TemporaryFolder(["f": []])
        let path = "\(folder.path)/f"
        let settings = try Self.settings(["--cacert", path, "-E", path, "--key", path])
        #expect(Self.failure { try settings.check() } == nil)
        #expect(settings.failure(ofRefusal: "params.trust.ca_file: bad")?.exitCode == 77)
    }

    @Test func versionsThatExcludeEachOtherAreAFailure() throws {
        let settings = try Self.settings(["--tlsv1.3", "--tls-max", "1.2"])
        let message = "CURL_SSLVERSION_MAX incompatible with CURL_SSLVERSION"
        #expect(Self.failure { try settings.check() } == CurlError(exitCode: 35, message: message))
        let equal = try Self.settings(["--tlsv1.2", "--tls-max", "1.2"])
        #expect(Self.failure { try equal.check() } == nil)
    }

    @Test func refusalsAreInTheWordsOfCurl() throws {
        let settings = try Self.settings(["--cacert", "/c", "--ciphers", "x", "--tls13-ciphers", "y"])
        #expect(
            settings.failure(ofRefusal: "Invalid params: params.trust.ca_file: none")
                == CurlError(exitCode: 77, message: "error setting certificate file: /c"))
        #expect(
            settings.failure(ofRefusal: "Invalid params: params.tls.ciphers: none")
                == CurlError(exitCode: 59, message: "failed setting cipher list: x"))
        #expect(
            settings.failure(ofRefusal: "Invalid params: params.tls.tls13_ciphers: none")
                == CurlError(exitCode: 59, message: "failed setting TLS 1.3 cipher suite: y"))
        #expect(settings.failure(ofRefusal: "Invalid params: params.url: none") == nil)
    }

    @Test func certificatesAreForTLSAlone() throws {
        let words = ["-E", "/c", "--key", "/k", "--tlsv1.2", "--ciphers", "x", "-4"]
        #expect(try Self.written(words, url: "http://h/") == #"{"addresses":{"family":"ipv4"}}"#)
        #expect(try Self.written(words).contains("client_certificate"))
    }

    @Test func aWrongValueIsAFailureOfTheCommand() {
        let failure = Self.failure { _ = try Self.settings(["--interface", "host!"]) }
        #expect(failure?.exitCode == 2 && failure?.form == .plain)
    }
}
