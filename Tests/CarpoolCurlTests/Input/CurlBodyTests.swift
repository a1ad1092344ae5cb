import Foundation
import Testing

@testable import CarpoolCurl

/// The expectations are what the real curl 8.14.1 sent.
struct CurlBodyTests {
    private typealias Data = CurlRequestOptions.Data

    private static func folder() throws -> TemporaryFolder {
        try TemporaryFolder([
            "nul": Array("a\r\nb\0c\n".utf8), "e e.txt": Array("x&y=z é\n".utf8), "empty": [],
            "input": Array("st\r\nin\0".utf8),
        ])
    }

    /// Pieces, and the body; `{d}` is the folder of the files.
    static let pieces: [([CurlRequestOptions.Data], String)] = [
        ([.text("a=1"), .text("b")], "a=1&b"),
        ([.text(""), .text("b")], "b"),
        ([.text("a"), .text("")], "a&"),
        ([.file("{d}/nul", stripsLineEnds: true), .file("{d}/nul", stripsLineEnds: false)], "abc&a\r\nb\0c\n"),
        ([.joined(.text("{")), .joined(.text("}"))], "{}"),
        ([.joined(.text("a")), .text("b"), .joined(.text("c"))], "a&bc"),
        ([.joined(.file("{d}/nul", stripsLineEnds: false))], "a\r\nb\0c\n"),
        ([.encoded(name: "", value: "a b")], "a+b"),
        ([.encoded(name: "", value: "a b&c")], "a+b%26c"),
        ([.encoded(name: "n", value: "a b+~-._é/?")], "n=a+b%2B~-._%C3%A9%2F%3F"),
        ([.encodedFile(name: "", path: "{d}/e e.txt")], "x%26y%3Dz+%C3%A9%0A"),
        ([.encodedFile(name: "n", path: "{d}/e e.txt")], "n=x%26y%3Dz+%C3%A9%0A"),
        ([.encodedFile(name: "", path: "{d}/nul")], "a%0D%0Ab%00c%0A"),
        ([.encodedFile(name: "n", path: "{d}/empty")], ""),
        ([.encoded(name: "n", value: "")], "n="),
        ([.file("{d}/empty", stripsLineEnds: false), .text("x")], "x"),
        ([.file("-", stripsLineEnds: true), .file("-", stripsLineEnds: true)], "stin&"),
        ([], ""),
    ]

    private static func placed(_ data: [CurlRequestOptions.Data], _ folder: String) -> [CurlRequestOptions.Data] {
        func path(_ text: String) -> String { text.replacingOccurrences(of: "{d}", with: folder) }
        return data.map { piece in
            switch piece {
            case .joined(let piece): .joined(placed([piece], folder)[0])
            case .file(let name, let strips): .file(path(name), stripsLineEnds: strips)
            case .encodedFile(let name, let file): .encodedFile(name: name, path: path(file))
            case .text, .encoded: piece
            }
        }
    }

    @Test(arguments: pieces)
    func bodies(_ data: [CurlRequestOptions.Data], _ expected: String) throws {
        let folder = try CurlBodyTests.folder()
        let input = try folder.open("input")
        let body = try CurlBody.data(
            CurlBodyTests.placed(data, folder.path), standardInput: input.fileDescriptor)
        #expect(String(decoding: body, as: UTF8.self) == expected)
    }

    @Test func aMissingFileIsAnErrorOfReading() throws {
        let error = try #require(throws: CurlError.self) {
            _ = try CurlBody.data([.file("/nofile", stripsLineEnds: true)])
        }
        #expect(error.exitCode == 26 && error.line == "curl: Failed to open /nofile")
    }

    @Test("The memory of a file is limited")
    func limit() throws {
        let folder = try CurlBodyTests.folder()
        let error = try #require(throws: CurlError.self) {
            _ = try CurlFile.read("\(folder.path)/nul", standardInput: 0, atMost: 6)
        }
        #expect(error.exitCode == 26 && error.message.hasSuffix("is larger than 6 bytes: send it with -T"))
        #expect(try CurlFile.read("\(folder.path)/nul", standardInput: 0, atMost: 7).count == 7)
    }

    @Test func queriesOfTheDataAndOfTheOption() throws {
        var request = CurlRequestOptions()
        request.data = [.encoded(name: "q", value: "a b"), .text("hi")]
        #expect(try CurlBody.query(ofData: request) == nil)
        request.isGet = true
        #expect(try CurlBody.query(ofData: request) == "q=a+b&hi")
        #expect(try CurlBody.query([.text("a b%2F"), .encoded(name: "", value: "x=y")]) == "a b%2F&x%3Dy")
        #expect(try CurlBody.query([]) == nil)
    }

    @Test(
        "URLs with a query",
        arguments: [
            ("http://h/x", "q=a+b&hi", "http://h/x?q=a+b&hi"), ("http://h/x?q", "a=%2F é", "http://h/x?q&a=%2f é"),
            ("http://h?q&", "a", "http://h/?q&a"), ("h/a/../b#f", "a", "http://h/b?a#f"),
            ("HTTP://h/é", "a", "http://h/é?a"), ("http://h/%aB?%aB", "a", "http://h/%aB?%aB&a"),
            ("http://h/x", "", "http://h/x"),
        ])
    func queries(_ url: String, _ query: String, _ expected: String) throws {
        #expect(try CurlBody.url(url, query: query) == expected)
    }

    @Test func aURLWithoutAQueryStaysAsItIs() throws {
        #expect(try CurlBody.url("h/../é", query: nil) == "h/../é")
        let error = try #require(throws: CurlError.self) { _ = try CurlBody.url("http://", query: "a") }
        #expect(error.line == "curl: (3) Could not parse the URL, failed to set query" && error.exitCode == 3)
    }

    @Test(
        "URLs for uploads",
        arguments: [
            ("http://h", "d/f.txt", "http://h/f.txt"), ("http://h/", "f.txt", "http://h/f.txt"),
            ("http://h/d/", "/x/e e.txt", "http://h/d/e%20e.txt"), ("http://h/d", "f", "http://h/d"),
            ("http://h/d/?q", "f", "http://h/d/?q"), ("http://h/?", "f", "http://h/f"),
            ("http://h/d/#f", "f.txt", "http://h/d/f.txt#f"), ("h", "é", "http://h/%c3%a9"), ("h", "-", "h"),
            ("h", ".", "h"),
            ("h", "a\\b", "http://h/b"),
        ])
    func uploads(_ url: String, _ path: String, _ expected: String) throws {
        #expect(try CurlBody.url(url, upload: path) == expected)
    }
}
