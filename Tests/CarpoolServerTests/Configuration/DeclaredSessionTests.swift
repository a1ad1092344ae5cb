import CarpoolJSON
@testable import CarpoolServer
import Glibc
import Testing

struct DeclaredSessionTests {
    private let folder = TemporaryFolder()

    private func read(_ sessions: String, limits: String = "{}") throws -> [DeclaredSession] {
        let path = folder.write("config.json", #"{"limits":\#(limits),"sessions":\#(sessions)}"#)
        return try ServerConfiguration.read(from: path).sessions
    }

    @Test("A session has its configuration; secrets of files are put in their places, and hidden for clients")
    func secrets() throws {
        let token = folder.write("token", "s3cret\n")
        let file = #"{"file":"\#(token)"}"#
        let session = try #require(
            read(
                """
                {"api": {
                    "headers": [["A", \(file)], ["B", "open"]], "timeout_ms": 5,
                    "redirect": {"modify": {"set_headers": {"C": [\(file), "open"]}}},
                    "interceptor": [
                        {"basic_auth": {"username": "ada", "password": \(file)}}, {"bearer": {"token": \(file)}},
                        {"set_header": {"name": "D", "value": \(file)}}, "compress",
                        {"oauth2": {
                            "token_url": "https://a.test/", "client_secret": \(file), "headers": {"E": \(file)},
                            "credential": {"access_token": \(file), "refresh_token": \(file)}
                        }}
                    ]
                }}
                """
            ).first)
        #expect(session.name == "api")
        let (resolved, shown) = (try JSON.parse(session.resolved), try JSON.parse(session.shown))
        for (json, value) in [(resolved, "s3cret"), (shown, "(hidden)")] {
            #expect(json["headers"]?[index: 0]?[index: 1]?.string == value)
            #expect(json["headers"]?[index: 1]?[index: 1]?.string == "open")
            #expect(json["redirect"]?["modify"]?["set_headers"]?["C"]?[index: 0]?.string == value)
            #expect(json["interceptor"]?[index: 0]?["basic_auth"]?["password"]?.string == value)
            #expect(json["interceptor"]?[index: 3]?.string == "compress")
            #expect(json["interceptor"]?[index: 4]?["oauth2"]?["credential"]?["refresh_token"]?.string == value)
        }
        #expect(!String(decoding: session.shown, as: UTF8.self).contains("s3cret"))
        #expect(session.hiddenFields == ["a", "authorization", "c", "d", "e"])
        #expect(try JSON.parse(session.text)["headers"]?[index: 0]?[index: 1]?["file"]?.string == token)
    }

    @Test("A session without files has one text, and equal ones are equal")
    func plain() throws {
        let session = try #require(read(#"{"a": {"headers": {"X": "1"}}}"#).first)
        #expect((session.text, session.text) == (session.resolved, session.shown))
        #expect(try read(#"{"a":{"headers":{"X":"1"}}}"#) == [session], "blanks do not matter")
        #expect(try read(#"{"a": {"headers": {"X": "2"}}}"#) != [session])
        #expect(try read("{}").isEmpty)
    }

    @Test(
        "A refusal has the place in the file",
        arguments: [
            (#"{"a b": {}}"#, ["configuration.sessions: \"a b\"", "letters"]),
            (#"{"a\nb": {}}"#, [#"configuration.sessions: "a\nb""#, "letters"]),
            (#"{"a": 1}"#, ["configuration.sessions.a", "object"]),
            (#"{"a": {}, "a": {}}"#, ["configuration.sessions.a", "twice"]),
            (#"{"a": {"headers": {"X": "1", "X": "2"}}}"#, ["configuration.sessions.a.headers.X", "twice"]),
            (#"{"a": {"timeout": 1}}"#, ["configuration.sessions.a.timeout", "timeout_ms"]),
            (#"{"a": {"headers": {"X": {"file": "x"}}}}"#, ["sessions.a.headers.X.file", "absolute"]),
            (#"{"a": {"headers": [["X", {"file": 1}]]}}"#, ["sessions.a.headers[0][1]", "{\"file\": PATH}"]),
            (#"{"a": {"headers": [[{"file": "/x"}, "X"]]}}"#, ["sessions.a.headers[0][0]", "string"]),
            (#"{"a": {"languages": [{"file": "/x"}]}}"#, ["sessions.a.languages[0]", "string"]),
            (#"{"a": {"trust": {"ca_file": "/nonexistent"}}}"#, ["sessions.a.trust.ca_file", "No such file"]),
            (#"{"a": {}, "b": {}, "c": {}}"#, ["configuration.sessions", "declares 3 sessions", "at most 2"]),
        ])
    func refusals(_ sessions: String, _ words: [String]) throws {
        let error = try #require(throws: ServerError.self) { try read(sessions, limits: #"{"declared_sessions":2}"#) }
        for word in ["config.json"] + words { #expect(error.description.contains(word), "\(error)") }
    }

    @Test(
        "A secret is one line that only its owner can read",
        arguments: [
            ("s3cret", 0o600, nil), ("s3cret\n", 0o400, nil), ("s\u{E9}cret", 0o600, nil), ("", 0o600, "is empty"),
            ("\n", 0o600, "is empty"), ("a\nb\n", 0o600, "line break"), ("a\u{7F}", 0o600, "control character"),
            ("a\tb", 0o600, "control character"), ("s3cret", 0o640, "read by others"), ("s3cret", 0o602, "chmod go-w"),
            ("  ", 0o600, "is empty"), (String(repeating: "x", count: 8_192), 0o600, nil),
            (String(repeating: "x", count: 8_193), 0o600, "at most 8192 bytes"),
        ] as [(String, mode_t, String?)])
    func secretFile(_ content: String, _ mode: mode_t, _ fault: String?) throws {
        let path = folder.write("token", content)
        chmod(path, mode)
        var files = ConfigurationFiles(limit: 100_000)
        do throws(ConfigurationFiles.Refusal) {
            #expect(try files.secret(at: path) == (content.hasSuffix("\n") ? String(content.dropLast()) : content))
            #expect(fault == nil)
        } catch {
            let text = "\(error.message); \(error.expected)"
            #expect(fault.map(text.contains) == true, "\(text)")
            #expect(!text.contains("s3cret"))
        }
    }

    @Test("Each path is read once, and the files have a limit together")
    func limit() throws {
        let paths = (0..<3).map { folder.write("secret-\($0)", "12345") }
        var files = ConfigurationFiles(limit: 10)
        for _ in 0..<3 { #expect(try files.secret(at: paths[0]) == "12345") }
        _ = try files.secret(at: paths[1])
        let refusal = #expect(throws: ConfigurationFiles.Refusal.self) { try files.secret(at: paths[2]) }
        #expect(refusal?.expected.contains("declared_session_file_bytes") == true)
        folder.write("secret-0", "other")
        #expect(try files.secret(at: paths[0]) == "12345")
    }
}
