import CarpoolSystem
import Testing

@testable import CarpoolCurl

/// Where users and passwords come from. The expectations are what curl 8.14.1 sent.
struct CurlLoginsTests {
    private static let file = "machine h login a password b\nmachine o login c password d\n"

    private static func logins(
        _ words: [String], _ file: String = file, variables: [String: String] = [:]
    ) throws -> CurlLogins {
        let folder = try TemporaryFolder(["n": Array(file.utf8), ".netrc": Array(file.utf8)])
        let words = words.map { $0.replacing("{d}", with: folder.path) }
        let line = try CurlLine.read(words + ["u"])
        let environment = Environment(variables.mapValues { $0.replacing("{d}", with: folder.path) })
        return CurlLogins(line.invocation.operations[0].security, environment)
    }

    /// The user and the password, separated by a colon; `nil` for none.
    private static func text(_ login: CurlLogin) -> String? {
        login.user == nil && login.password == nil ? nil : "\(login.user ?? "-"):\(login.password ?? "-")"
    }

    @Test(
        "The first request",
        arguments: [
            ([], "http://h/", nil), ([], "http://us:pw@h/", "us:pw"), ([], "http://us@h/", "us:-"),
            (["-u", "u:p"], "http://h/", "u:p"), (["-u", "u:p"], "http://us:pw@h/", "u:p"),
            (["-u", "u"], "http://us:pw@h/", "us:pw"), (["-u", "u"], "http://us@h/", "us:-"),
            (["--netrc-file", "{d}/n"], "http://h/", "a:b"), (["--netrc-file", "{d}/n"], "http://H/", "a:b"),
            (["--netrc-file", "{d}/n"], "http://h:81/", "a:b"), (["--netrc-file", "{d}/n"], "http://x/", nil),
            (["--netrc-file", "{d}/n"], "http://us:pw@h/", "us:pw"),
            (["--netrc-file", "{d}/n"], "http://a:z@h/", "a:b"), (["--netrc-file", "{d}/n"], "http://a@h/", "a:b"),
            (["--netrc-file", "{d}/n", "-u", "u:p"], "http://h/", "u:p"),
            (["--netrc-file", "{d}/n", "--netrc-optional"], "http://h/", "a:b"),
            (["--netrc-file", "{d}/n", "--netrc-optional"], "http://a:z@h/", "a:z"),
            (["--netrc-file", "{d}/n", "--no-netrc"], "http://h/", "a:b"),
            (["--netrc-optional", "--no-netrc-optional"], "http://h/", nil),
        ] as [([String], String, String?)])
    func first(_ words: [String], _ url: String, _ expected: String?) throws {
        #expect(Self.text(try Self.logins(words).login(at: CurlURL(url))) == expected)
    }

    @Test(arguments: [["-n"], ["--netrc-optional"]])
    func theFileIsThatOfHOME(_ words: [String]) throws {
        let logins = try Self.logins(words, variables: ["HOME": "{d}"])
        #expect(Self.text(try logins.login(at: CurlURL("http://h/"))) == "a:b")
    }

    @Test func aFileThatIsMissingIsAFailureOfRequiredOnes() throws {
        for words in [["-n"], ["--netrc-file", "{d}/none"]] {
            let logins = try Self.logins(words, variables: ["HOME": "{d}/none"])
            let error = try #require(throws: CurlError.self) { _ = try logins.login(at: CurlURL("http://h/")) }
            #expect(error == CurlError(exitCode: 26, message: ".netrc error: no such file"))
        }
        for words in [["--netrc-optional"], ["--netrc-optional", "--netrc-file", "{d}/none"], []] {
            let logins = try Self.logins(words)
            #expect(Self.text(try logins.login(at: CurlURL("http://h/"))) == nil)
        }
    }

    @Test func aQuoteWithoutEndIsAFailure() throws {
        let logins = try Self.logins(["--netrc-file", "{d}/n"], "machine h login \"a")
        let error = try #require(throws: CurlError.self) { _ = try logins.login(at: CurlURL("http://h/")) }
        #expect(error == CurlError(exitCode: 26, message: ".netrc error: syntax error"))
    }

    @Test func aUserMayHaveAColon() throws {
        let logins = try Self.logins(["--netrc-file", "{d}/n"], "machine h login a:b password c")
        let login = try logins.login(at: CurlURL("http://h/"))
        #expect(login.user == "a:b" && login.password == "c" && login.fileHost == "h")
    }

    @Test(
        "After a redirect from http://h/",
        arguments: [
            (["--netrc-file", "{d}/n"], "http://h/", "http://o/", "c:d", "o"),
            (["--netrc-file", "{d}/n"], "http://h/", "http://x/", "a:b", "h"),
            (["--netrc-file", "{d}/n"], "http://x/", "http://o/", "c:d", "o"),
            (["--netrc-file", "{d}/n", "--netrc-optional"], "http://us:pw@h/", "http://o/", "c:d", "o"),
            (["--netrc-file", "{d}/n", "--netrc-optional"], "http://us:pw@h/", "http://h/n", "us:pw", nil),
            (["--netrc-file", "{d}/n"], "http://us:pw@h/", "http://o/", "c:d", "o"),
            (["--netrc-file", "{d}/n", "-u", "u:p"], "http://h/", "http://o/", "u:p", nil),
            ([], "http://us:pw@h/", "http://o/", "us:pw", nil),
        ] as [([String], String, String, String?, String?)])
    func after(_ words: [String], _ from: String, _ to: String, _ expected: String?, _ fileHost: String?) throws {
        let logins = try Self.logins(words)
        let (first, next) = (try CurlURL(from), try CurlURL(to))
        let login = logins.complete(try logins.login(at: first), at: next, after: first)
        #expect(Self.text(login) == expected && login.fileHost == fileHost)
    }
}
