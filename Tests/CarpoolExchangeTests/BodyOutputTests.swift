import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolExchange

struct BodyOutputTests {
    private let folder: String

    init() throws {
        var template = Array("/tmp/carpool-output-XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&template))
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func content(_ name: String) throws -> String {
        let file = try FileDescriptor.open("\(folder)/\(name)", O_RDONLY)
        return String(decoding: try Bytes.readAll(file.raw, atMost: 4_096, path: name), as: UTF8.self)
    }

    @discardableResult
    private func write(_ text: String, _ opening: BodyOutput.Opening, commits: Bool = true) throws -> String? {
        let output = try BodyOutput("\(folder)/file", opening)
        try output.write(Array(text.utf8))
        if commits { try output.commit() }
        return output.path
    }

    @Test func eachOpeningDoesWhatItSays() throws {
        try write("old", .new)
        try write("never", .replacing, commits: false)
        #expect(try content("file") == "old")
        try write("replaced", .replacing)
        #expect(try content("file") == "replaced")
        try write("+", .appending)
        #expect(try content("file") == "replaced+")
        try write("short", .truncating)
        #expect(try content("file") == "short")
        #expect(throws: SystemError.self) { try write("", .new) }
        #expect(try write("beside", .numbered) == "\(folder)/file.1")
    }

    @Test func whatWasWrittenCanBeForgotten() throws {
        let output = try BodyOutput("\(folder)/file", .truncating)
        try output.write(Array("kept, forgotten".utf8))
        output.rewind(to: 4)
        try output.write(Array("!".utf8))
        #expect(try content("file") == "kept!")
    }

    @Test func aPipeIsMovedWhereTheKernelCan() throws {
        let ends = try FileDescriptor.pipe()
        let reader = FileDescriptor(owning: ends.read)
        let writer = FileDescriptor(owning: ends.write)
        let output = try BodyOutput("\(folder)/file", .truncating)
        var mover = PipeMover()
        try BlockingOutput(borrowing: writer.raw).write(Array("moved".utf8))
        guard case .moved(5) = try mover.next(from: reader.raw, to: output.descriptor) else {
            Issue.record("the kernel moves bytes into a file")
            return
        }
        let appending = try BodyOutput("\(folder)/file", .appending)
        try BlockingOutput(borrowing: writer.raw).write(Array(" and written".utf8))
        guard case .bytes(let bytes) = try mover.next(from: reader.raw, to: appending.descriptor, atMost: 12) else {
            Issue.record("a file that is open for appending takes no bytes from a pipe")
            return
        }
        try appending.write(bytes)
        #expect(try content("file") == "moved and written")
    }

    @Test func anOutputWithoutAReaderIsAFailureUntilThePipeIsEmpty() throws {
        signal(SIGPIPE, SIG_IGN)
        let ends = try FileDescriptor.pipe()
        let reader = FileDescriptor(owning: ends.read)
        let output = try FileDescriptor.pipe()
        close(output.read)
        defer { close(output.write) }
        try BlockingOutput(borrowing: ends.write).write(Array("left".utf8))
        close(ends.write)
        var mover = PipeMover()
        let error = #expect(throws: SystemError.self) { _ = try mover.next(from: reader.raw, to: output.write) }
        #expect(error?.code == EPIPE)
        guard case .bytes(let bytes) = try mover.next(from: reader.raw, to: nil), bytes.count == 4 else {
            Issue.record("the bytes are still there")
            return
        }
        guard case .end = try mover.next(from: reader.raw, to: output.write) else {
            Issue.record("nothing is left")
            return
        }
    }
}
