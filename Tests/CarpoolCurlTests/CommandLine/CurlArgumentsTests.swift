import Testing

@testable import CarpoolCurl

/// The expectations are what curl 8.14.1 does.
struct CurlArgumentsTests {
    @Test(
        "Letters are combined, and the last one takes the rest or the next word",
        arguments: [["-sSo", "f", "u"], ["-sSof", "u"], ["-s", "-S", "-o", "f", "u"], ["u", "-sSof"]])
    func letters(_ words: [String]) throws {
        let line = try CurlLine.read(words)
        #expect(line.invocation.global.isSilent && line.invocation.global.showsErrors)
        let target = CurlOperation.Target(url: "u", output: .file("f"))
        #expect(line.invocation.operations.map(\.targets) == [[target]])
    }

    @Test("The category of the help may be missing", arguments: [["-h"], ["--help"], ["u", "--help"]])
    func help(_ words: [String]) throws {
        #expect(try CurlLine.read(words).answer == CurlLine.read(["--help", ""]).answer)
        #expect(CurlLine.failure(["--user-agent"])?.message == "option --user-agent: requires parameter")
    }

    @Test func outputsGoToTheURLsInOrder() throws {
        let targets = try CurlLine.read(["-o", "1", "a", "b", "-o", "2", "-O", "c"]).invocation.operations[0].targets
        #expect(targets.map(\.url) == ["a", "b", "c"])
        #expect(targets.map(\.output) == [.file("1"), .file("2"), .remoteName])
    }

    @Test func nextBeginsWithoutTheOptionsBefore() throws {
        let operations = try CurlLine.read(["-X", "PUT", "a", "--next", "-I", "b", "-:", "c"]).invocation.operations
        #expect(operations.map(\.request.method) == ["PUT", nil, nil])
        #expect(operations.map(\.request.isHead) == [false, true, false])
    }

    @Test func timesAreTracedWithAnOptionAfterVerbose() throws {
        let before = try CurlLine.read(["--trace-time", "-v", "u"]).invocation.global
        #expect(before.trace == .verbose && !before.tracesTime)
        let after = try CurlLine.read(["-v", "--trace-time", "u"]).invocation.global
        #expect(after.trace == .verbose && after.tracesTime)
        #expect(try CurlLine.read(["-v", "--no-verbose", "u"]).invocation.global.trace == .none)
    }

    @Test func everythingAfterTwoDashesIsAURL() throws {
        let line = try CurlLine.read(["-s", "--", "-x", "--silent"])
        #expect(line.invocation.operations[0].targets.map(\.url) == ["-x", "--silent"])
    }

    @Test func theLastSwitchCounts() throws {
        #expect(try !CurlLine.read(["--silent", "--no-silent", "u"]).invocation.global.isSilent)
        #expect(try CurlLine.read(["--no-location", "-L", "u"]).invocation.operations[0].response.followsRedirects)
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
            (["--no-ipv4", "u"], "option --no-ipv4: the given option cannot be reversed with a --no- prefix"),
            (["--no-next", "u"], "option --no-next: the given option cannot be reversed with a --no- prefix"),
            (["-", "u"], "option -: is unknown"),
            (["--keepalive-time", "x", "u"], "option --keepalive-time: expected a proper numerical parameter"),
            (["--keepalive-cnt", "-1", "u"], "option --keepalive-cnt: expected a positive numerical parameter"),
            (
                ["--happy-eyeballs-timeout-ms", "", "u"],
                "option --happy-eyeballs-timeout-ms: expected a proper numerical parameter"
            ),
            (["--socks5", "", "u"], "option --socks5: blank argument where content is expected"),
            (["--oauth2-bearer", "", "u"], "option --oauth2-bearer: blank argument where content is expected"),
            (["-JC-", "-O", "u"], "--continue-at and --remote-header-name cannot be combined"),
        ])
    func errors(_ words: [String], _ message: String) {
        let failure = CurlLine.failure(words)
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
            (["--etag-save", "e", "u", "v"], "The etag options only work on a single URL"),
            (["u", "v", "--etag-compare", "e"], "The etag options only work on a single URL"),
        ])
    func exclusions(_ words: [String], _ reason: String) {
        #expect(CurlLine.failure(words)?.reasons == [reason])
    }

    @Test(
        "One kind of request",
        arguments: [
            (["-I", "-F", "a=b", "u"], "-F", "multipart formpost (-F, --form) and HEAD (-I, --head)"),
            (["-F", "a=b", "--head", "u"], "--head", "HEAD (-I, --head) and multipart formpost (-F, --form)"),
            (["--form", "a=b", "--no-head", "u"], "--no-head", "GET (-G, --get) and multipart formpost (-F, --form)"),
        ])
    func kinds(_ words: [String], _ option: String, _ kinds: String) {
        let failure = CurlLine.failure(words)
        #expect(failure?.message == "option \(option): is badly used here")
        let warning = "You can only select one HTTP request method! You asked for both \(kinds)."
        #expect(failure?.warnings == [warning])
    }

    @Test(
        "A text of -F that is no field is an error of its option",
        arguments: [
            (["-Fa", "--bogus"], "-Fa", "Illegally formatted input field"),
            (["--form", "a"], "--form", "Illegally formatted input field"),
            (["--form-string", "a"], "--form-string", "Illegally formatted input field"),
            (["-F", "=)"], "-F", "no multipart to terminate"),
            (["-F", "=(", "-F", "=)", "-F", "=)"], "-F", "no multipart to terminate"),
            (["-F", "=(", "u", "--next", "-F", "=)"], "-F", "no multipart to terminate"),
        ])
    func fields(_ words: [String], _ option: String, _ warning: String) {
        let failure = CurlLine.failure(words + ["u"])
        #expect(failure?.message == "option \(option): is badly used here")
        #expect(failure?.warnings == [warning])
    }

    @Test func theURLsOfAFileHaveNoPatternsAndAreSaved() throws {
        let folder = try TemporaryFolder(["u": Array("http://h/[1-2]\n\t#c\n \n h \r\n".utf8)])
        let targets = try CurlLine.read(["--url", "@\(folder.path)/u", "-o", "f"]).invocation.operations[0].targets
        #expect(targets.map(\.url) == ["http://h/[1-2]", " h \r"])
        #expect(targets.map(\.isLiteral) == [true, true])
        #expect(targets.map(\.output) == [.file("f"), nil])
        #expect(targets.map(\.defaultOutput) == [.remoteName, .remoteName])
    }

    @Test func remoteNamesAreForTheURLsAfterTheOption() throws {
        let words = [
            "a", "--remote-name-all", "b", "--no-remote-name", "--no-remote-name-all", "c", "--no-remote-name",
        ]
        let targets = try CurlLine.read(words).invocation.operations[0].targets
        #expect(targets.map(\.url) == ["a", "b", "c"])
        #expect(targets.map(\.output) == [.standard, nil, nil])
        #expect(targets.map(\.defaultOutput) == [.standard, .remoteName, .standard])
    }

    @Test func theLastGroupMayHaveNoURL() throws {
        #expect(try CurlLine.read(["u", "--next"]).invocation.operations.map(\.hasURL) == [true, false])
        #expect(try CurlLine.read(["u", "-:", "-o", "f"]).invocation.operations.map(\.hasURL) == [true, false])
    }

    @Test(
        "Warnings",
        arguments: [
            (["-o", "-x"], "The filename argument '-x' looks like a flag."),
            (["-T", "--x"], "The filename argument '--x' looks like a flag."),
            (["--stderr", "-e"], "The filename argument '-e' looks like a flag."),
            (
                ["-A", "\u{201C}x\u{201D}"],
                "The argument '\u{201C}x\u{201D}' starts with a Unicode quote where maybe an ASCII \" was intended?"
            ),
            (["--metalink"], "--metalink is deprecated and has no function anymore"),
            (["--random-file", "f"], "--random-file is deprecated and has no function anymore"),
            (["-3"], "--sslv3 is deprecated and has no function anymore"),
            (["-r", "7"], "A specified range MUST include at least one dash (-). Appending one for you"),
        ])
    func warnings(_ words: [String], _ warning: String) throws {
        #expect(try CurlLine.read(words + ["u"]).warnings == [warning])
    }

    @Test(
        "Texts without a warning",
        arguments: [["-o", "-"], ["-A", "-x"], ["-r", "1-2,5-"], ["-T", ""], ["--keepalive-time", "5"]])
    func noWarnings(_ words: [String]) throws {
        #expect(try CurlLine.read(words + ["u"]).warnings == [])
    }

    @Test(
        "What the real curl carries out",
        arguments: [
            (["ftp://h/"], "ftp://"), (["ftp.h"], "ftp://"), (["--proto-default", "scp", "h"], "scp://"),
            (["{ftp,http}://h"], "ftp://"), (["-H", "Host:", "h"], "-H Host:"),
            (["--http2", "http://h"], "--http2 for http"), (["--proxy-header", "A: b", "https://h"], "--proxy-header"),
            (["-p", "--proxy-header", "A: b", "h"], "--proxy-header"),
        ])
    func fallbacks(_ words: [String], _ reason: String) throws {
        #expect(CurlDecision.of(try CurlLine.read(words)) == .real(reason: reason))
    }

    @Test(
        "What the daemon carries out",
        arguments: [
            ["h"], ["HTTP://h"], ["bogus://h"], ["--http2", "https://h"], ["--proxy-header", "A: b", "http://h"],
            ["--no-raw", "h"], ["-H", "Host: x", "h"], ["file.h"],
        ])
    func runs(_ words: [String]) throws {
        let line = try CurlLine.read(words)
        #expect(CurlDecision.of(line) == .run(line.invocation))
    }
}
