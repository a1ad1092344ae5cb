import CarpoolJSON
import Testing

@testable import CarpoolCurl

/// The cookies of a command. The expectations are the files and fields of curl 8.14.1.
struct CurlCookiesTests {
    private static func row(
        _ name: String, _ value: String, domain: String = "h", path: String = "/", expires: Int = 0
    ) -> String {
        "\(domain)\tFALSE\t\(path)\tFALSE\t\(expires)\t\(name)\t\(value)"
    }

    private static func operation(_ words: [String]) throws -> CurlOperation {
        try CurlLine.read(words + ["u"]).invocation.operations[0]
    }

    /// The record of an exchange that has left these rows.
    private static func record(_ rows: [String]) throws -> JSON {
        let text = rows.joined(separator: "\\n").replacing("\t", with: "\\t")
        return try JSON.parse(Array("{\"cookies\":{\"text\":\"\(text)\"}}".utf8))
    }

    private static func written(_ cookies: CurlCookies) throws -> [String] {
        let folder = try TemporaryFolder()
        #expect(cookies.write(to: "\(folder.path)/jar", CurlStandardOutput()) == nil)
        let lines = try folder.read("jar").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.prefix(4).map { $0.isEmpty || $0.hasPrefix("# ") } == [true, true, true, true])
        #expect(lines.last?.isEmpty == true)
        return Array(lines.dropFirst(4).dropLast())
    }

    @Test(
        "Cookies are kept with a file of -b or with -c",
        arguments: [
            ([], false), (["-b", "a=b"], false), (["-b", ""], true), (["-b", "file"], true), (["-c", "jar"], true),
        ])
    func keeping(_ words: [String], _ isKept: Bool) throws {
        #expect((CurlCookies().jar(try Self.operation(words).request) != nil) == isKept)
    }

    @Test func filesThatAreTooLargeTogetherAreNotUsed() throws {
        func rows(_ name: String) -> [UInt8] {
            let rows = (0..<12_000).map { Self.row("\(name)\($0)", String(repeating: "x", count: 40)) }
            return Array(rows.joined(separator: "\n").utf8)
        }
        let folder = try TemporaryFolder(["a": rows("a"), "b": rows("b")])
        let cookies = CurlCookies()
        let operation = try Self.operation(["-b", "\(folder.path)/a", "-b", "\(folder.path)/b"])
        #expect(cookies.read(operation) == ["The files of cookies have more than 1048576 bytes: they are not used"])
        #expect(cookies.jar(operation.request)?.text == "")
    }

    @Test func filesAreReadOnceAndMissingOnesAreEmpty() throws {
        let folder = try TemporaryFolder([
            "c": Array("# comment\n\nnothing\n\(Self.row("a", "1"))\n#HttpOnly_\(Self.row("b", "2"))\n".utf8)
        ])
        let cookies = CurlCookies()
        let operation = try Self.operation(["-b", "\(folder.path)/c", "-b", "\(folder.path)/none", "-b", "x=y"])
        #expect(cookies.read(operation) == [] && cookies.read(operation) == [])
        let jar = try #require(cookies.jar(operation.request))
        #expect(jar.text == "#HttpOnly_\(Self.row("b", "2"))\n\(Self.row("a", "1"))\n")
        #expect(jar.strings == ["x=y"])
    }

    @Test func ofSeveralLinesAboutACookieTheLastOneCounts() throws {
        let rows = [
            Self.row("a", "1"), Self.row("b", "2"), "#HttpOnly_\(Self.row("a", "3"))",
            "set-cookie: c=; Max-Age=0; path=/",
            "Set-Cookie: c=4; Path=/", "Set-Cookie: c=5; Path=/x",
        ]
        let folder = try TemporaryFolder([
            "c": Array(rows.joined(separator: "\n").utf8), "d": Array(Self.row("b", "6").utf8),
        ])
        let cookies = CurlCookies()
        let operation = try Self.operation(["-b", "\(folder.path)/c", "-b", "\(folder.path)/d"])
        _ = cookies.read(operation)
        #expect(
            cookies.jar(operation.request)?.text
                == [Self.row("b", "6"), rows[2], rows[5], rows[4]].map { $0 + "\n" }.joined())
    }

    @Test func longerDomainsAndNamesComeFirstAndThenTheNewest() throws {
        let rows = [
            Self.row("a", "1"), Self.row("bb", "2"), Self.row("c", "3"), Self.row("d", "4", domain: "longer"),
        ]
        let folder = try TemporaryFolder(["c": Array(rows.joined(separator: "\n").utf8)])
        let cookies = CurlCookies()
        let operation = try Self.operation(["-b", "\(folder.path)/c"])
        _ = cookies.read(operation)
        #expect(cookies.jar(operation.request)?.text == [3, 1, 2, 0].map { rows[$0] + "\n" }.joined())
    }

    @Test func sessionCookiesMayBeDropped() throws {
        let rows = [Self.row("a", "1"), Self.row("b", "2", expires: 4_000_000_000)]
        let folder = try TemporaryFolder(["c": Array(rows.joined(separator: "\n").utf8)])
        let cookies = CurlCookies()
        let operation = try Self.operation(["-j", "-b", "\(folder.path)/c"])
        _ = cookies.read(operation)
        #expect(cookies.jar(operation.request)?.text == rows[1] + "\n")
    }

    @Test func cookiesOfResponsesAreWrittenTheNewestFirst() throws {
        let cookies = CurlCookies()
        let request = try Self.operation(["-c", "jar"]).request
        cookies.take(try Self.record([Self.row("a", "1")]), try #require(cookies.jar(request)))
        cookies.take(
            try Self.record([Self.row("a", "2"), Self.row("b", "3")]), try #require(cookies.jar(request)))
        #expect(try Self.written(cookies) == [Self.row("b", "3"), Self.row("a", "2")])
        cookies.take(try Self.record([Self.row("b", "3")]), try #require(cookies.jar(request)))
        #expect(try Self.written(cookies) == [Self.row("b", "3")])
    }

    @Test func stringsAreNotKept() throws {
        let cookies = CurlCookies()
        let request = try Self.operation(["-b", "x=1; y=2", "-c", "jar"]).request
        cookies.take(
            try Self.record([Self.row("x", "1"), Self.row("y", "9"), Self.row("z", "3")]),
            try #require(cookies.jar(request)))
        #expect(try Self.written(cookies) == [Self.row("z", "3"), Self.row("y", "9")])
        // The string took the place of the cookie on the way.
        cookies.take(
            try Self.record([Self.row("y", "2"), Self.row("z", "3")]), try #require(cookies.jar(request)))
        #expect(try Self.written(cookies) == [Self.row("z", "3"), Self.row("y", "9")])
    }

    @Test func aFileThatCannotBeWrittenIsARemark() {
        #expect(
            CurlCookies().write(to: "/none/jar", CurlStandardOutput())
                == "WARNING: failed to save cookies in /none/jar: (23) Failed writing received data to "
                + "disk/application")
    }

    @Test func theParameterHasTheFileAndTheStrings() throws {
        var writer = JSONWriter()
        writer.beginObject()
        CurlCookies.Jar(text: "r\n", strings: ["a=b; c = d ;e", "f=g=h"]).write(to: &writer)
        CurlCookies.Jar(text: "", strings: []).write(to: &writer)
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == #"{"cookies":{"import":"r\n","set":["#
                + #"{"name":"a","value":"b"},{"name":"c","value":"d"},{"name":"f","value":"g=h"}],"export":true,"place":0},"#
                + #""cookies":{"export":true,"place":0}}"#)
    }
}
