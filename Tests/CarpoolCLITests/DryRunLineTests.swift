import Testing

@testable import CarpoolCLI

/// The line of `--dry-run`: that of the daemon, with what the command does itself.
struct DryRunLineTests {
    private static func line(_ words: [String], of daemon: String = "curl -q -v -g \\\n\t'http://h/'") throws -> String
    {
        let arguments = try Invocation.parse(["get"] + words + ["http://h/"]).arguments
        return DryRunLine(daemon, try #require(arguments as? RequestArguments)).text
    }

    @Test(
        "The options of the command come first",
        arguments: [
            ([], []), (["-s"], ["-sS"]), (["-f", "-i"], ["-f", "-i"]), (["-I"], []),
            (["-o", "it's"], [#"-o 'it'\''s'"#]),
            (["-C", "-", "-o", "f"], ["-o 'f'", "-C -"]), (["-w", #"%{http_code}\n"#], [#"-w '%{http_code}\n'"#]),
            (["--retry", "3"], ["--retry 3", "--retry-connrefused"]),
            (["-b", "jar", "-c", "jar"], ["-b 'jar'", "-c 'jar'"]),
            (["-b", "a=b"], []),
        ])
    func options(_ words: [String], _ expected: [String]) throws {
        let lines = ["curl -q -g"] + expected + ["'http://h/'"]
        #expect(try Self.line(words) == lines.joined(separator: " \\\n\t"))
    }

    @Test func verboseIsAnOptionOfBoth() throws {
        #expect(try Self.line(["-v"]).hasPrefix("curl -q -v -g \\\n"))
    }

    @Test func aCertificateIsItsFile() throws {
        let daemon = "curl -q -v -g \\\n\t--cert '<CN=a>' \\\n\t'http://h/'"
        let words = ["--cert", #"a\:b:secret"#, "--key", "k", "--cert-type", "pem"]
        let expected = [
            "curl -q -g", #"--cert 'a\:b'"#, "--cert-type PEM", "--key 'k'", "--pass '(hidden)'", "'http://h/'",
        ]
        #expect(try Self.line(words, of: daemon) == expected.joined(separator: " \\\n\t"))
        // That of the session has no file.
        #expect(try Self.line([], of: daemon).contains("--cert '<CN=a>'"))
    }

    @Test func theSourceOfABodyStaysBeforeCurl() throws {
        let text = try Self.line(["-s"], of: "printf 'a' | curl -q -v -g \\\n\t--data-binary @- \\\n\t'http://h/'")
        #expect(text == "printf 'a' | curl -q -g \\\n\t-sS \\\n\t--data-binary @- \\\n\t'http://h/'")
    }
}
