import CarpoolCaller
import CarpoolSystem
import Testing

@testable import CarpoolCLI
@testable import CarpoolClient

struct OptionNameTests {
    @Test(
        "A refused parameter is shown as the option that sets it",
        arguments: [
            ("trust.ca_file: holds no certificate", "--cacert: holds no certificate"),
            ("trust.evaluators.*.composite[0].public_keys.pins[0]: x", "--pinnedpubkey: x"),
            ("trust.evaluators.*.composite[0].revocation.crl_file: x", "--crlfile: x"),
            ("addresses.resolve[0]: not an IP address: \"a\"", "--resolve: not an IP address: \"a\""),
            ("addresses.local_address: x", "--interface: x"), ("tls.max_version: x", "--tls-max: x"),
            ("destination.path: the path ends with a /", "--output: the path ends with a /"),
            ("method: not a request method", "--request: not a request method"),
            ("types[0]: no event type matches", "TYPE: no event type matches"),
            ("since: not a cursor", "--since: not a cursor"),
        ])
    func options(_ message: String, _ expected: String) {
        let failure = Failure(.refused, "Invalid params: params.\(message)", hint: "h").namingOption
        #expect(failure.message == expected && failure.hint == "h" && failure.code == .refused)
    }

    @Test(
        "A file that the daemon cannot open is shown with its option, as it was typed",
        arguments: [
            ("get --cacert ./a u", "./a", "--cacert"), ("get --capath ./a u", "./a", "--capath"),
            ("get --crlfile /a/b u", "/a/b", "--crlfile"), ("get --pinnedpubkey ./a u", "./a", "--pinnedpubkey"),
            ("get -E ./a:b u", "./a", "--cert"), ("get -E c --key ./a u", "./a", "--key"),
        ])
    func files(_ line: String, _ path: String, _ option: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let arguments = try #require(try Invocation.parse(words).arguments as? RequestArguments)
        let message = "cannot open \(SocketLocation.absolute(path)): No such file or directory"
        let refused = RemoteError(code: 1301, message: message, name: "file.cannot_open", hint: nil)
        let failure = Failure(.refused(refused)).namingFile(of: arguments)
        #expect(failure.message?.hasPrefix("\(option): cannot open \(path): No such file") == true)
        #expect(failure.code == .refused)
        let other = Failure(.refused, message).namingFile(of: arguments)
        #expect(other.message == message, "another error stays as it is")
    }

    /// In a value that is no path, bytes that are not UTF-8 are refused. The placeholders decide it.
    @Test(
        "Options that take the path of a file",
        arguments: [
            ("x", "", ""), ("@x", "--data --header --json --oauth2-client-secret --write-out", ""),
            ("a=@x", "--form", "--cookie"),
        ])
    func paths(_ value: String, _ more: String, _ fewer: String) {
        let always = """
            --cacert --capath --cert --cookie --cookie-jar --crlfile --input-file --key --netrc-file --output \
            --pinnedpubkey --unix-socket --upload-file
            """
        let found = PostCommand.options.map(\.specification).filter { $0.takesPath(value) }.map(\.long)
        let expected = Set("\(always) \(more)".split(separator: " ")).subtracting(fewer.split(separator: " "))
        #expect(found.sorted() == expected.map(String.init).sorted())
    }

    @Test("Other messages stay as they are", arguments: ["Invalid params: params.url: x", "no such session: a"])
    func others(_ message: String) {
        #expect(Failure(.refused, message).namingOption.message == message)
    }
}
