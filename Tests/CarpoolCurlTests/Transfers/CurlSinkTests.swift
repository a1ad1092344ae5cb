import CarpoolSystem
import Foundation
import Testing

@testable import CarpoolCurl

/// Where a response goes, with real files. The expectations are the files that curl 8.14.1 leaves.
struct CurlSinkTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(["old": Array("0123456789".utf8)]) }

    private func sink(_ words: [String], _ url: String = "http://h/a/b.txt") throws -> CurlSink {
        let words = words.map { $0.replacing("{d}", with: folder.path) }
        let line = try CurlLine.read(words + [url])
        var plan = CurlPlan(try line.invocation.operations.map { try CurlPreparedOperation($0, Environment([:])) })
        return CurlSink(try #require(try plan.next()), CurlConsole(CurlGlobalOptions(), Environment([:])))
    }

    private static func failure(_ read: () throws -> Void) -> CurlError? {
        do { try read() } catch { return error as? CurlError }
        return nil
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test(
        "Names",
        arguments: [
            ([], nil), (["-o", "-"], nil), (["-o", "x"], "x"), (["-O"], "b.txt"),
            (["-o", "x", "--output-dir", "d"], "d/x"),
            (["-O", "--output-dir", "d"], "d/b.txt"), (["-o", "#1"], "#1"),
            (["-o", "/x", "--output-dir", "d"], "d//x"),
        ] as [([String], String?)])
    func names(_ words: [String], _ expected: String?) throws {
        #expect(try sink(words).path == expected)
        #expect(try sink(words).checkName() == [])
    }

    @Test func patternsOfTheURLAreInTheName() throws {
        #expect(try sink(["-o", "#2-#1.#3"], "http://{h,i}/[1-2]").path == "1-h.#3")
    }

    @Test func aURLWithoutAFileHasAName() throws {
        let sink = try sink(["-O"], "http://h/")
        #expect(sink.path == "curl_response")
        #expect(try sink.checkName() == ["No remote file name, uses \"curl_response\""])
    }

    @Test func namesThatCannotBeMadeAreFailures() throws {
        let empty = try sink(["-o", "#1"], "http://h/{,a}")
        #expect(Self.failure { _ = try empty.checkName() }?.exitCode == 23)
        let malformed = try sink(["-O"], " h")
        #expect(Self.failure { _ = try malformed.checkName() }?.exitCode == 3)
    }

    @Test func aBodyGoesToItsFileAndHeadsWhereTheyAreWanted() throws {
        let sink = try sink(["-o", "{d}/body", "-i", "-D", "{d}/head"])
        try sink.openHeadFile(isFirst: true)
        try sink.write(head: Array("H\n".utf8))
        try sink.write(body: Array("B".utf8))
        try sink.finish(nil, makesFile: true)
        #expect(try folder.read("body") == "H\nB" && folder.read("head") == "H\n")
        #expect(sink.bodyBytes == 1)
    }

    @Test func theFirstTransferEmptiesTheFileOfHeads() throws {
        for (isFirst, text) in [(true, "1"), (false, "2"), (true, "3")] {
            let sink = try sink(["-o", "{d}/body", "-D", "{d}/old"])
            try sink.openHeadFile(isFirst: isFirst)
            try sink.write(head: Array(text.utf8))
            #expect(try folder.read("old") == ["1": "1", "2": "12", "3": "3"][text])
        }
    }

    @Test func aFileOfHeadsThatCannotBeOpenedIsAFailure() throws {
        let sink = try sink(["-D", "{d}/none/head"])
        let failure = try #require(Self.failure { try sink.openHeadFile(isFirst: true) })
        #expect(failure.exitCode == 23 && failure.reasons == ["Failed to open \(folder.path)/none/head"])
    }

    @Test func aFileIsMadeAtTheEndUnlessTheTransferFailed() throws {
        try sink(["-o", "{d}/empty"]).finish(nil, makesFile: true)
        try sink(["-o", "{d}/unchanged"]).finish(nil, makesFile: false)
        try sink(["-o", "{d}/failed"]).finish(.http(404), makesFile: true)
        try sink(["-I", "-o", "{d}/head"]).finish(nil, makesFile: true)
        #expect(try names == ["empty", "old"])
    }

    @Test func aFileOfAFailureMayBeRemoved() throws {
        let sink = try sink(["-o", "{d}/body", "--remove-on-error"])
        try sink.write(body: [65])
        #expect(try names == ["body", "old"])
        try sink.finish(.http(500), makesFile: true)
        #expect(try names == ["old"])
    }

    @Test func aFolderIsMadeIfItIsWanted() throws {
        let refused = try sink(["-o", "{d}/x/y/body"])
        let failure = try #require(Self.failure { try refused.write(body: [65, 66]) })
        #expect(failure.exitCode == 23 && failure.message == "client returned ERROR on write of 2 bytes")
        let sink = try sink(["-o", "{d}/x/y/body", "--create-dirs"])
        try sink.write(body: [65])
        #expect(try folder.read("x/y/body") == "A")
    }

    @Test func aFileThatExistsIsReplacedOrKept() throws {
        try sink(["-o", "{d}/old"]).write(body: [65])
        #expect(try folder.read("old") == "A")
        let kept = try sink(["-o", "{d}/old", "--no-clobber"])
        try kept.write(body: [66])
        #expect(try folder.read("old") == "A" && kept.path == "\(folder.path)/old.1")
        #expect(try folder.read("old.1") == "B")
    }

    @Test func theServerMayGiveTheName() throws {
        let sink = try sink(["-OJ", "--output-dir", "{d}"])
        try sink.take(disposition: "attachment; filename=\"../given\"")
        try sink.write(body: [65])
        #expect(sink.path == "\(folder.path)/given")
        #expect(try folder.read("given") == "A")
        let other = try self.sink(["-OJ", "--output-dir", "{d}"])
        try other.take(disposition: "inline")
        #expect(other.path == "\(folder.path)/b.txt")
    }

    @Test func aNameOfTheServerReplacesNoFile() throws {
        let sink = try sink(["-OJ", "--output-dir", "{d}"])
        let value = "attachment; filename=old"
        let failure = try #require(Self.failure { try sink.take(disposition: value) })
        #expect(failure.exitCode == 23)
        #expect(failure.message == "client returned ERROR on write of \(23 + value.utf8.count) bytes")
        #expect(try folder.read("old") == "0123456789")
    }

    @Test func aRetryForgetsWhatWasWritten() throws {
        let sink = try sink(["-o", "{d}/body"])
        try sink.write(body: Array("abc".utf8))
        sink.rewind(to: 0)
        try sink.write(body: Array("d".utf8))
        #expect(try folder.read("body") == "d" && sink.bodyBytes == 1)
    }

    @Test func aRetryThatGoesOnKeepsWhatWasThere() throws {
        let sink = try sink(["-o", "{d}/old", "-C", "10"])
        sink.appends = true
        try sink.write(body: Array("abc".utf8))
        sink.rewind(to: 10)
        try sink.write(body: Array("de".utf8))
        #expect(try folder.read("old") == "0123456789de")
    }

    @Test func bytesOfAPipeAreMovedAsFarAsTheLimitAllows() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("0123456789".utf8))
        try pipe.fileHandleForWriting.close()
        let fd = pipe.fileHandleForReading.fileDescriptor
        let console = CurlConsole(CurlGlobalOptions(), Environment([:]))
        let trace = try CurlTrace(CurlGlobalOptions(), console)
        for words in [["-o", "{d}/moved"]] {
            let sink = try sink(words)
            #expect(try sink.move(from: fd, atMost: 4, trace) == 4)
            #expect(sink.drop(from: fd) == 6)
            #expect(try sink.move(from: fd, atMost: .max, trace) == 0)
            #expect(sink.bodyBytes == 4)
        }
        #expect(try folder.read("moved") == "0123")
    }

    @Test func aFullDiskIsAFailure() throws {
        // A small piece stays in curl's buffer, whose end fails without a message.
        let small = try sink(["-o", "/dev/full"])
        #expect(Self.failure { try small.write(body: [65]) }?.form == .silent)
        let large = try sink(["-o", "/dev/full"])
        let body = [UInt8](repeating: 65, count: 5_000)
        let failure = try #require(Self.failure { try large.write(body: body, of: 100_000) })
        #expect(failure.exitCode == 23)
        #expect(failure.message == "Failure writing output to destination, passed 16384 returned 0")
    }
}
