import CarpoolSystem
import Testing

@testable import CarpoolCLI

/// The expectations are what curl 8.14.1 does.
struct CurlArgumentsTests {
    private static func read(_ words: [String], _ variables: [String: String] = [:]) throws -> CurlCommandLine {
        var line = CurlCommandLine(Environment(variables))
        try CurlArguments.read(words, into: &line)
        return line
    }

    private static func failure(_ words: [String]) -> CurlError? {
        var line = CurlCommandLine(Environment([:]))
        do throws(CurlError) { try CurlArguments.read(words, into: &line) } catch { return error }
        return nil
    }

    @Test(
        "Letters are combined, and the last one takes the rest or the next word",
        arguments: [["-sSo", "f", "u"], ["-sSof", "u"], ["-s", "-S", "-o", "f", "u"], ["u", "-sSof"]])
    func letters(_ words: [String]) throws {
        let line = try Self.read(words)
        #expect(line.invocation.global.isSilent && line.invocation.global.showsErrors)
        let target = CurlOperation.Target(url: "u", output: .file("f"))
        #expect(line.invocation.operations.map(\.targets) == [[target]])
    }

    @Test func outputsGoToTheURLsInOrder() throws {
        let targets = try Self.read(["-o", "1", "a", "b", "-o", "2", "-O", "c"]).invocation.operations[0].targets
        #expect(targets.map(\.url) == ["a", "b", "c"])
        #expect(targets.map(\.output) == [.file("1"), .file("2"), .remoteName])
    }

    @Test func nextBeginsWithoutTheOptionsBefore() throws {
        let operations = try Self.read(["-X", "PUT", "a", "--next", "-I", "b", "-:", "c"]).invocation.operations
        #expect(operations.map(\.request.method) == ["PUT", nil, nil])
        #expect(operations.map(\.request.isHead) == [false, true, false])
    }

    @Test func everythingAfterTwoDashesIsAURL() throws {
        let line = try Self.read(["-s", "--", "-x", "--silent"])
        #expect(line.invocation.operations[0].targets.map(\.url) == ["-x", "--silent"])
    }

    @Test func theLastSwitchCounts() throws {
        #expect(try !Self.read(["--silent", "--no-silent", "u"]).invocation.global.isSilent)
        #expect(try Self.read(["--no-location", "-L", "u"]).invocation.operations[0].response.followsRedirects)
    }

    @Test(
        "Errors",
        arguments: [
            (["--bogus", "u"], "option --bogus: is unknown"),
            (["--silen", "u"], "option --silen: is unknown"),
            (["-sS?", "u"], "option -sS?: is unknown"),
            (["u", "-m"], "option -m: requires parameter"),
            (
                ["--no-max-time", "1", "u"],
                "option --no-max-time: the given option cannot be reversed with a --no- prefix"
            ),
            (["--no-no-silent", "u"], "option --no-no-silent: is unknown"),
            (["--expand-silent", "u"], "option --expand-silent: variable expansion failure"),
            (["--expand-no-silent", "u"], "option --expand-no-silent: is unknown"),
            (["--expand-bogus", "x", "u"], "option --expand-bogus: is unknown"),
            (["-X", "", "u"], "option -X: blank argument where content is expected"),
            (["-r", "", "u"], "option -r: blank argument where content is expected"),
            (["-C", "", "u"], "option -C: expected a proper numerical parameter"),
            ([""], "option : blank argument where content is expected"),
            (["-s"], "(2) no URL specified"),
        ])
    func errors(_ words: [String], _ message: String) {
        let failure = Self.failure(words)
        #expect(failure?.message == message)
        #expect(failure?.exitCode == 2)
        #expect(failure?.form == .usage)
    }

    @Test(
        "Options that exclude each other say so",
        arguments: [
            (["-f", "--fail-with-body", "u"], "You must select either --fail or --fail-with-body, not both."),
            (["-C", "5", "-r", "1-2", "u"], "--continue-at is mutually exclusive with --range"),
            (["-r", "1-2", "-C", "5", "u"], "--continue-at is mutually exclusive with --range"),
            (["--no-clobber", "-C", "5", "u"], "--continue-at is mutually exclusive with --no-clobber"),
            (["--next", "u"], "missing URL before --next"),
        ])
    func exclusions(_ words: [String], _ reason: String) {
        #expect(Self.failure(words)?.reasons == [reason])
    }

    @Test(
        "One kind of request",
        arguments: [["-d", "a", "-I", "u"], ["-F", "a=b", "-d", "a", "u"], ["-d", "a", "-T", "f", "u"]])
    func kinds(_ words: [String]) {
        let failure = Self.failure(words)
        #expect(failure?.message.hasPrefix("You can only select one HTTP request method!") == true)
    }

    @Test(
        "What the real curl carries out",
        arguments: [
            (["ftp://h/"], "ftp://"), (["ftp.h"], "ftp://"), (["--proto-default", "scp", "h"], "scp://"),
            (["{ftp,http}://h"], "ftp://"), (["--raw", "h"], "--raw"), (["-H", "Host:", "h"], "-H Host:"),
            (["--http2", "http://h"], "--http2 for http"), (["--proxy-header", "A: b", "https://h"], "--proxy-header"),
            (["-p", "--proxy-header", "A: b", "h"], "--proxy-header"),
        ])
    func fallbacks(_ words: [String], _ reason: String) throws {
        #expect(CurlDecision.of(try Self.read(words)) == .real(reason: reason))
    }

    @Test(
        "What the daemon carries out",
        arguments: [
            ["h"], ["HTTP://h"], ["bogus://h"], ["--http2", "https://h"], ["--proxy-header", "A: b", "http://h"],
            ["--no-raw", "h"], ["-H", "Host: x", "h"], ["file.h"],
        ])
    func runs(_ words: [String]) throws {
        let line = try Self.read(words)
        #expect(CurlDecision.of(line) == .run(line.invocation))
    }

    // MARK: Variables

    @Test(
        "Variables and their functions",
        arguments: [
            ("A=b c", "{{A}}", "b c"), ("A= b ", "{{A:trim}}", "b"), ("A=b/c", "{{A:url}}", "b%2Fc"),
            ("A=\"\t", "{{A:json}}", "\\\"\\t"), ("A=b", "{{A:b64}}", "Yg=="), ("A=Yg==", "{{A:64dec}}", "b"),
            ("A=!", "{{A:64dec}}", "[64dec-fail]"), ("A= b ", "{{A:trim:b64:url}}", "Yg%3D%3D"),
            ("A=b", "\\{{A}}", "{{A}}"), ("A=b", "x{{A}}{{B}}y", "xby"), ("A=b", "{{ A}}", "{{ A}}"),
            ("A[1-2]=abcd", "{{A}}", "bc"), ("A[2-]=abcd", "{{A}}", "cd"), ("A[2-2]=abcd", "{{A}}", "c"),
            ("A[9-12]=abcd", "{{A}}", ""), ("A[1-9223372036854775807]=abcd", "{{A}}", "bcd"), ("%V", "{{V}}", "value"),
            ("%W=preset", "{{W}}", "preset"), ("%V=preset", "{{V}}", "value"), ("A=b", "{{A", "{{A"),
        ])
    func variables(_ variable: String, _ text: String, _ expected: String) throws {
        let line = try Self.read(["--variable", variable, "--expand-user", text, "u"], ["V": "value"])
        #expect(line.invocation.operations[0].security.user == expected)
    }

    @Test(
        "Errors of variables",
        arguments: [
            ("A[2-1]=abcd", "option --variable: syntax error in --variable argument"),
            ("%NONE", "option --variable: variable expansion failure"),
            ("A=b", "option --expand-user: variable expansion failure"),
        ])
    func variableErrors(_ variable: String, _ message: String) {
        let failure = Self.failure(["--variable", variable, "--expand-user", "{{A:bogus}}", "u"])
        #expect(failure?.message == message)
    }

    // MARK: Configuration files

    @Test(
        "Rows of a configuration file",
        arguments: [
            "url=u\nuser = a:b", "url: u\nuser:a:b", "--url u\n--user a:b", "url \"u\"\nuser \"a:b\"",
            " url\tu \r\n-u a:b # x\r\n",
            "# c\n\n  # d\nurl = u\n-ua:b", "url=u\nuser=\"a\\:b\"", "-su a:b\nurl=u",
        ])
    func rows(_ text: String) throws {
        let folder = try TemporaryFolder(["k": Array(text.utf8)])
        let line = try Self.read(["-K", "\(folder.path)/k"])
        #expect(line.invocation.operations[0].targets.map(\.url) == ["u"])
        #expect(line.invocation.operations[0].security.user == "a:b")
        #expect(line.warnings == [])
    }

    @Test func anEscapeInQuotesIsACharacter() throws {
        let folder = try TemporaryFolder(["k": Array(#"user = "a\tb\n\"\\:c" "#.utf8)])
        #expect(
            try Self.read(["-K", "\(folder.path)/k", "u"]).invocation.operations[0].security.user == "a\tb\n\"\\:c")
    }

    @Test func theFileOfTheUserIsReadUnlessQComesFirst() throws {
        let folder = try TemporaryFolder([".curlrc": Array("silent".utf8)])
        #expect(try Self.read(["u"], ["HOME": folder.path]).invocation.global.isSilent)
        for first in ["-q", "--disable", "-qS"] {
            #expect(try !Self.read([first, "u"], ["HOME": folder.path]).invocation.global.isSilent)
        }
    }

    @Test func aFileThatNamesItselfIsRefused() throws {
        let folder = try TemporaryFolder()
        try folder.write("k", Array("config=\(folder.path)/k".utf8))
        #expect(Self.failure(["-K", "\(folder.path)/k", "u"])?.exitCode == 26)
    }
}
