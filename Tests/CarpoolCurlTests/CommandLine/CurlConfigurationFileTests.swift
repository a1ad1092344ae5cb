import Testing

@testable import CarpoolCurl

/// The expectations are what curl 8.14.1 does.
struct CurlConfigurationFileTests {
    @Test(
        "Rows of a configuration file",
        arguments: [
            "url=u\nuser = a:b", "url: u\nuser:a:b", "--url u\n--user a:b", "url \"u\"\nuser \"a:b\"",
            " url\tu \r\n-u a:b # x\r\n",
            "# c\n\n  # d\nurl = u\n-ua:b", "url=u\nuser=\"a\\:b\"", "-su a:b\nurl=u",
        ])
    func rows(_ text: String) throws {
        let folder = try TemporaryFolder(["k": Array(text.utf8)])
        let line = try CurlLine.read(["-K", "\(folder.path)/k"])
        #expect(line.invocation.operations[0].targets.map(\.url) == ["u"])
        #expect(line.invocation.operations[0].security.user == "a:b")
        #expect(line.warnings == [])
    }

    @Test func anEscapeInQuotesIsACharacter() throws {
        let folder = try TemporaryFolder(["k": Array(#"user = "a\tb\n\"\\:c" "#.utf8)])
        #expect(
            try CurlLine.read(["-K", "\(folder.path)/k", "u"]).invocation.operations[0].security.user == "a\tb\n\"\\:c")
    }

    @Test func theFileOfTheUserIsReadUnlessQComesFirst() throws {
        let folder = try TemporaryFolder([".curlrc": Array("silent".utf8)])
        #expect(try CurlLine.read(["u"], ["HOME": folder.path]).invocation.global.isSilent)
        for first in ["-q", "--disable", "-qS"] {
            #expect(try !CurlLine.read([first, "u"], ["HOME": folder.path]).invocation.global.isSilent)
        }
    }

    @Test(
        "Rows with more than their option takes",
        arguments: [
            ("silent = x", "silent"), ("silent # c", "silent"), ("-s x", "-s"), ("-sSO x", "-sSO"),
            ("-A\"a b\"", "-A\"a"), ("-of x", "-of"), ("next = x", "next"),
        ])
    func garbage(_ row: String, _ name: String) throws {
        let folder = try TemporaryFolder(["k": Array(row.utf8)])
        let failure = CurlLine.failure(["u", "-K", "\(folder.path)/k"])
        #expect(failure?.message == "option -K: error encountered when reading a file")
        #expect(failure?.reasons.first == "\(folder.path)/k:1: '\(name)' had unsupported trailing garbage")
    }

    @Test(
        "Rows that are errors",
        arguments: [
            ("-", "is unknown"), ("o", "requires parameter"), ("user-agent=", "requires parameter"),
            ("form = a", "is badly used here"), ("-sSo", "requires parameter"),
            ("no-max-time = 1", "the given option cannot be reversed with a --no- prefix"),
        ])
    func wrongRows(_ row: String, _ reason: String) throws {
        let folder = try TemporaryFolder(["k": Array("\n\(row == "o" ? "-o" : row)".utf8)])
        let failure = CurlLine.failure(["-K", "\(folder.path)/k", "u"])
        #expect(failure?.exitCode == 26)
        #expect(failure?.reasons.first?.hasSuffix("' \(reason)") == true)
        #expect(failure?.reasons.first?.hasPrefix("\(folder.path)/k:2: '") == true)
    }

    @Test func aRowNextWithoutAURLBeforeItMeansNothing() throws {
        let folder = try TemporaryFolder(["k": Array("-s\nnext\nnext\nurl = u\nnext\nnext\nurl = v".utf8)])
        let operations = try CurlLine.read(["-K", "\(folder.path)/k"]).invocation.operations
        #expect(operations.map { $0.targets.map(\.url) } == [["u"], ["v"]])
    }

    @Test func aFileThatNamesItselfIsRefused() throws {
        let folder = try TemporaryFolder()
        try folder.write("k", Array("config=\(folder.path)/k".utf8))
        #expect(CurlLine.failure(["-K", "\(folder.path)/k", "u"])?.exitCode == 26)
    }
}
