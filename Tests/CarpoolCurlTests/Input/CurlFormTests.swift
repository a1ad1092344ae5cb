import Foundation
import Testing

@testable import CarpoolCurl

struct CurlFormTests {
    private static func folder() throws -> TemporaryFolder {
        let long =
            (0...255).map { UInt8($0) }
            + Array(
                (String(repeating: "a", count: 200) + " \r\n" + String(repeating: "b", count: 75) + " \r\nend \t").utf8)
        return try TemporaryFolder([
            "a.txt": Array("hello".utf8), "b.html": Array("<p>\n".utf8), "c.bin": Array("bin\0".utf8) + [0xFF],
            "q\"u o.GIF": Array("x".utf8), "hd": Array("X-H: 1\n# c\nX-I: 2\n 3\r\n\nContent-Type: a/b\n".utf8),
            "long": long, "empty": [], "stdin": Array("stdin\r\n".utf8),
        ])
    }

    /// Standard input as a pipe with the bytes of the table.
    private static func pipe() throws -> FileHandle {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("stdin\r\n".utf8))
        try pipe.fileHandleForWriting.close()
        return pipe.fileHandleForReading
    }

    private static func form(
        _ texts: [String], _ folder: TemporaryFolder, literal: Bool = false, escapes: Bool = false,
        lines: [String] = [], input: FileHandle
    ) throws -> CurlForm {
        let place = folder.path.components(separatedBy: "/").last ?? ""
        let arguments = texts.map { text in
            let path = text.replacingOccurrences(of: "../form/", with: "../\(place)/")
            return CurlFormArgument(
                text: path.replacingOccurrences(of: "{d}", with: folder.path), isLiteral: literal)
        }
        return try CurlForm(
            arguments, escapes: escapes, headerLines: lines, standardInput: input.fileDescriptor)
    }

    /// The body as the listener saw it: each byte a scalar, and the boundaries named in the order of their appearance.
    private static func body(_ form: CurlForm, input: FileHandle) throws -> String {
        var bytes = Array((form.contentType + "\u{1}").utf8)
        for segment in form.segments {
            switch segment {
            case .bytes(let piece): bytes += piece
            case .file(let path, let length):
                let content = try Data(contentsOf: URL(fileURLWithPath: path))
                #expect(length == Int64(content.count))
                bytes += content
            case .standardInput(let length):
                let content = input.readDataToEndOfFile()
                #expect(length == Int64(content.count))
                bytes += content
            }
        }
        var text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        let boundary = /-{24}[A-Za-z0-9]{22}/
        var number = 1
        while let match = text.firstMatch(of: boundary) {
            text = text.replacingOccurrences(of: String(match.0), with: "B\(number)")
            number += 1
        }
        return text
    }

    @Test("Bodies are those that curl 8.14.1 sends", arguments: CurlFormCases.all + CurlFormCases.more)
    func bodies(_ test: CurlFormCases.Case) throws {
        let folder = try CurlFormTests.folder()
        let input = try CurlFormTests.pipe()
        let form = try CurlFormTests.form(
            test.texts, folder, literal: test.literal, escapes: test.escapes, input: input)
        let text = try CurlFormTests.body(form, input: input)
        #expect(text == "multipart/form-data; boundary=B1\u{1}" + test.body)
        #expect(form.length == test.length)
    }

    @Test func standardInputThatIsAFileIsReadLater() throws {
        let folder = try CurlFormTests.folder()
        let input = try folder.open("stdin")
        let form = try CurlFormTests.form(["a=@-"], folder, input: input)
        #expect(form.segments.count == 3 && form.segments[1] == .standardInput(length: 7))
        let pipe = try CurlFormTests.pipe()
        let other = try CurlFormTests.form(["a=@-"], folder, input: pipe)
        #expect(
            try CurlFormTests.body(form, input: input) == CurlFormTests.body(other, input: pipe))
        #expect(form.length == other.length)
    }

    static let warnings: [([String], [String])] = [
        (["a=<{d}/a.txt;filename=no"], ["Field filename not allowed here: no"]),
        (["a=\"b\" junk;type=x/y"], ["Trailing data after quoted form parameter"]),
        (["a=b ; type = x/y"], ["skip unknown form field: type = x/y"]),
        (
            ["a=b;foo=bar", "c=d;type=x/y,z"],
            ["skip unknown form field: foo=bar", "garbage at end of field specification: ,z"]
        ),
        (["a=b;type=x/y z"], ["garbage at end of field specification:  z"]),
        (["a=b;headers=@/nofile"], ["Cannot read from /nofile: No such file or directory"]),
        (
            ["m=(;filename=x;encoder=base64", "a=b", "=)"],
            ["Field filename not allowed here: x", "Field encoder not allowed here: base64"]
        ),
        (["a=b"], []),
    ]

    @Test(arguments: warnings)
    func warns(_ texts: [String], _ expected: [String]) throws {
        let input = try CurlFormTests.pipe()
        #expect(try CurlFormTests.form(texts, CurlFormTests.folder(), input: input).warnings == expected)
    }

    static let failures: [(String, Bool, Int32, String)] = [
        ("a=@{d}/c.bin;encoder=7bit", false, 26, "curl: (26) read error getting mime data"),
        ("a=é;encoder=7bit", false, 26, "curl: (26) read error getting mime data"),
        ("a=b;encoder=zz", false, 43, "curl: (43) A libcurl function was given a bad argument"),
        ("=)", false, 2, "curl: is badly used here"),
        ("noequals", false, 2, "curl: is badly used here"),
        ("nope", true, 2, "curl: is badly used here"),
        ("a=@{d}/nofile", false, 26, "curl: (26) Failed to open/read local data from file/application"),
        ("a=@{d}/a.txt,{d}/nofile", false, 26, "curl: (26) Failed to open/read local data from file/application"),
        ("a=@", false, 26, "curl: (26) Failed to open/read local data from file/application"),
        ("a=<", false, 26, "curl: (26) Failed to open/read local data from file/application"),
        ("a=@{d}/a.txt,", false, 26, "curl: (26) Failed to open/read local data from file/application"),
    ]

    @Test(arguments: failures)
    func refuses(_ text: String, _ literal: Bool, _ code: Int32, _ line: String) throws {
        let (folder, input) = (try CurlFormTests.folder(), try CurlFormTests.pipe())
        let error = try #require(throws: CurlError.self) {
            _ = try CurlFormTests.form([text], folder, literal: literal, input: input)
        }
        #expect(error.exitCode == code && error.line == line)
    }

    @Test("A wrong option is an error before a missing file is one")
    func orderOfErrors() throws {
        let (folder, input) = (try CurlFormTests.folder(), try CurlFormTests.pipe())
        func code(_ texts: [String]) -> Int32? {
            do {
                _ = try CurlFormTests.form(texts, folder, input: input)
                return nil
            } catch {
                return (error as? CurlError)?.exitCode
            }
        }
        #expect(code(["a=@/nofile;encoder=zz", "wrong"]) == 2)
        #expect(code(["a=@/nofile;encoder=zz", "b=c"]) == 26)
        #expect(code(["a=b;encoder=zz", "c=@/nofile"]) == 43)
    }

    @Test func aLineGivesTheType() throws {
        let (folder, input) = (try CurlFormTests.folder(), try CurlFormTests.pipe())
        var form = try CurlFormTests.form(
            ["a=b"], folder, lines: ["X: y", "content-type: multipart/related"], input: input)
        #expect(form.length == 150)
        #expect(
            try CurlFormTests.body(form, input: input)
                == "multipart/related; boundary=B1\u{1}--B1\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nb\r\n"
                + "--B1--\r\n")
        form = try CurlFormTests.form(["a=b"], folder, lines: ["Content-Type:"], input: input)
        #expect(form.contentType.hasPrefix("; boundary=") && form.length == 150)
    }
}
