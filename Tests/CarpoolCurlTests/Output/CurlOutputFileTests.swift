import CarpoolExchange
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolCurl

struct CurlOutputFileTests {
    /// Opens a file, writes a text, and returns the name of the file.
    private static func write(
        _ text: String, _ path: String, _ opening: BodyOutput.Opening
    ) throws -> String {
        let file = try CurlOutputFile.open(path, opening)
        let count = Glibc.write(file.descriptor, text, text.utf8.count)
        #expect(count == text.utf8.count)
        return String(file.path.split(separator: "/").last ?? "")
    }

    @Test func filesAreOpenedAsTheirModeSays() throws {
        let folder = try TemporaryFolder(["old": Array("old".utf8)])
        let path = "\(folder.path)/old"
        #expect(try CurlOutputFileTests.write("new", path, .appending) == "old")
        #expect(try folder.read("old") == "oldnew")
        #expect(try CurlOutputFileTests.write("x", path, .truncating) == "old")
        #expect(try folder.read("old") == "x")
        let error = try #require(throws: CurlError.self) { _ = try CurlOutputFileTests.write("", path, .new) }
        #expect(error.exitCode == 23)
        #expect(error.warnings == ["Failed to open the file \(path): File exists"])
        #expect(try CurlOutputFileTests.write("y", "\(folder.path)/other", .new) == "other")
    }

    @Test func numbersAreTriedUpTo99() throws {
        let folder = try TemporaryFolder(["n": [], "n.1": []])
        let path = "\(folder.path)/n"
        #expect(try CurlOutputFileTests.write("a", path, .numbered) == "n.2")
        for number in 3...98 { try folder.write("n.\(number)", []) }
        #expect(try CurlOutputFileTests.write("b", path, .numbered) == "n.99")
        #expect(throws: CurlError.self) { _ = try CurlOutputFileTests.write("", path, .numbered) }
        #expect(try CurlOutputFileTests.write("c", "\(folder.path)/free", .numbered) == "free")
    }

    @Test func theModeDependsOnTheOptionsAndTheName() {
        #expect(CurlOutputFile.opening(clobbers: nil, isDisposition: false) == .truncating)
        #expect(CurlOutputFile.opening(clobbers: nil, isDisposition: true) == .new)
        #expect(CurlOutputFile.opening(clobbers: true, isDisposition: true) == .truncating)
        #expect(CurlOutputFile.opening(clobbers: false, isDisposition: false) == .numbered)
    }

    @Test func foldersAreMadeWithoutRightsForOthers() throws {
        let folder = try TemporaryFolder(["file": []])
        try CurlOutputFile.createFolders(of: "\(folder.path)//a/b///c")
        var status = stat()
        #expect(stat("\(folder.path)/a/b", &status) == 0)
        #expect(status.st_mode & 0o777 & ~0o750 == 0)
        #expect(stat("\(folder.path)/a/b/c", &status) != 0)
        try CurlOutputFile.createFolders(of: "\(folder.path)/a/b/c")
        let error = try #require(throws: CurlError.self) {
            try CurlOutputFile.createFolders(of: "\(folder.path)/file/x/y")
        }
        #expect(error.exitCode == 23 && error.message == "Error creating directory \(folder.path)/file/x")
        let long = String(repeating: "n", count: 300)
        let other = try #require(throws: CurlError.self) {
            try CurlOutputFile.createFolders(of: "\(folder.path)/\(long)/y")
        }
        #expect(other.message == "The directory name \(folder.path)/\(long) is too long")
    }

    @Test func aFileCannotBeOpenedInAMissingFolder() throws {
        let error = try #require(throws: CurlError.self) {
            _ = try CurlOutputFileTests.write("", "/nofolder/x", .truncating)
        }
        #expect(error.line == "curl: (23) Failed writing received data to disk/application")
    }
}
