@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Glibc
import Testing

struct SpoolTests {
    private static func write(_ text: String, to file: any SpoolFile) throws(SessionError) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: text.utf8)
        try file.write(UnsafeRawBufferPointer(bytes))
    }

    private static func complete(_ file: any SpoolFile) throws {
        var result: Result<[UInt8]?, SessionError>?
        file.complete { result = $0 }
        _ = try #require(result).get()
    }

    private static func contents(_ file: any SpoolFile) throws -> [UInt8] {
        var result: Result<[UInt8], SessionError>?
        file.contents { result = $0 }
        return try #require(result).get()
    }

    private static func files() throws -> FileStore {
        FileStore(work: InlineWork(), scheduler: try EventLoop())
    }

    /// A body in the spool of a stage's server.
    private static func body(_ stage: Stage, _ client: FakeClient, _ text: String) throws -> SpooledBody {
        let entry = try stage.submit(client)
        let file = try stage.server.spool.makeFile(for: entry.request, isHashed: false)
        try write(text, to: file)
        return try #require(file as? SpooledBody)
    }

    @Test("A body has a name only when it is complete, and only its owner may read it")
    func names() throws {
        let stage = try Stage()
        let body = try Self.body(stage, FakeClient(), "hello")
        #expect(stage.folder.names(in: "spool").isEmpty)
        #expect(body.path == nil)
        try Self.complete(body)
        try Self.complete(body)
        #expect(stage.folder.names(in: "spool") == [body.name])
        let path = try #require(body.path)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(throws: Never.self) { try Self.write("more", to: body) }
        #expect(body.count == 5, "a complete body does not change")
    }

    @Test(
        "Reading returns fewer bytes at the end, and none behind it",
        arguments: [(0, 2, "he"), (3, 100, "lo"), (5, 1, ""), (99, 1, ""), (Int.max, 32_768, ""), (-1, 1, "")])
    func reading(_ offset: Int, _ count: Int, _ expected: String) throws {
        let stage = try Stage()
        let body = try Self.body(stage, FakeClient(), "hello")
        try Self.complete(body)
        let kept = StoredBody.file(path: try #require(body.path), size: body.count)
        #expect(String(decoding: try kept.read(at: offset, count: count), as: UTF8.self) == expected)
    }

    @Test("All of a body, complete or not; a file that was deleted, truncated or released fails")
    func contents() throws {
        let stage = try Stage()
        let body = try Self.body(stage, FakeClient(), "hello")
        #expect(try Self.contents(body) == Array("hello".utf8))
        try Self.complete(body)
        #expect(try Self.contents(body) == Array("hello".utf8))
        #expect(try body.contents() == Array("hello".utf8))
        let path = try #require(body.path)
        #expect(truncate(path, 2) == 0)
        let cut = try #require(throws: SessionError.self) { try Self.contents(body) }
        #expect(cut.name == "response_serialization_failed.input_file_read_failed")
        #expect(unlink(path) == 0)
        let gone = try #require(throws: SessionError.self) { try Self.contents(body) }
        #expect(gone.name == "response_serialization_failed.input_file_read_failed")
        #expect(gone.message.contains("No such file"))
        body.discard()
        let released = try #require(throws: SessionError.self) { try Self.contents(body) }
        #expect(released.name == "response_serialization_failed.input_file_nil")
    }

    @Test("Quotas: of one client, and of all; released bytes are available to others")
    func quotas() throws {
        let stage = try Stage {
            $0.limits.spoolBytesPerClient = 10
            $0.limits.spoolBytes = 15
        }
        let (first, second) = (FakeClient(1, name: "first"), FakeClient(2, name: "second"))
        let body = try Self.body(stage, first, "0123456789")
        let refused = try #require(throws: SessionError.self) { try Self.write("x", to: body) }
        #expect(refused.name == "spool_full")
        #expect(refused.hint != nil)
        let other = try Self.body(stage, second, "01234")
        #expect(throws: SessionError.self) { try Self.write("5", to: other) }
        #expect(stage.server.spool.totalBytes == 15)
        #expect(stage.server.spool.release(body.request))
        #expect(!stage.server.spool.release(body.request))
        try Self.write("56789", to: other)
        #expect(stage.server.spool.totalBytes == 10)
        other.discard()
        other.discard()
        #expect(stage.server.spool.totalBytes == 0)
        #expect(stage.server.spool.count == 0)
    }

    @Test("A body that is released before it is complete leaves nothing behind", arguments: [true, false])
    func releasedEarly(_ discards: Bool) throws {
        let stage = try Stage()
        let body = try Self.body(stage, FakeClient(), "hello")
        if discards { body.discard() } else { stage.server.spool.release(body.request) }
        try Self.write("more", to: body)
        try Self.complete(body)
        #expect(body.path == nil)
        #expect(stage.folder.names(in: "spool").isEmpty)
        #expect(stage.server.spool.totalBytes == 0)
    }

    @Test("Bodies are deleted when their lease ends, and all with the daemon")
    func leases() throws {
        let stage = try Stage()
        let spool = stage.server.spool
        let bodies = try (0..<3).map { _ in try Self.body(stage, FakeClient(), "x") }
        for body in bodies { try Self.complete(body) }
        bodies[0].expires = 10
        bodies[1].expires = 20
        spool.releaseExpired(at: 9)
        #expect(spool.count == 3)
        spool.releaseExpired(at: 10)
        #expect(stage.folder.names(in: "spool") == bodies[1...].map(\.name).sorted())
        var isRemoved = false
        spool.removeAll { isRemoved = true }
        #expect(isRemoved)
        #expect(spool.count == 0)
        #expect(stage.folder.names(in: "") == [])
    }

    @Test("The directory is removed at the end when the last file is, in whichever order the threads work")
    func removedLast() throws {
        let work = HeldWork()
        let stage = try Stage(work: work)
        let body = try Self.body(stage, FakeClient(), "hello")
        try Self.complete(body)
        work.hold()
        var isRemoved = false
        stage.server.spool.removeAll { isRemoved = true }
        work.releaseLastFirst()
        #expect(isRemoved)
        #expect(stage.folder.names(in: "") == [])
    }

    @Test("The next body of a request does not meet the file of the last one, which is removed late")
    func nextBody() throws {
        let work = HeldWork()
        let stage = try Stage(work: work)
        let entry = try stage.submit(FakeClient())
        let spool = stage.server.spool
        func body(_ text: String) throws -> SpooledBody {
            let file = try spool.makeFile(for: entry.request, isHashed: false)
            try Self.write(text, to: file)
            return try #require(file as? SpooledBody)
        }
        let first = try body("first")
        try Self.complete(first)
        work.hold()
        first.discard()
        let second = try body("second")
        var result: Result<[UInt8]?, SessionError>?
        second.complete { result = $0 }
        work.releaseLastFirst()
        _ = try #require(result).get()
        #expect(try Self.contents(second) == Array("second".utf8))
        #expect(stage.folder.names(in: "spool") == [second.name])
    }

    @Test("A complete file that does not fit is removed, and counts for no client")
    func adoptedWithoutRoom() throws {
        let stage = try Stage { $0.limits.spoolBytesPerClient = 4 }
        let entry = try stage.submit(FakeClient())
        let path = stage.folder.write("spool/\(entry.request.id)", "hello")
        #expect(throws: SessionError.self) {
            try stage.server.spool.adoptFile(at: path, count: 5, for: entry.request)
        }
        #expect(stage.folder.names(in: "spool").isEmpty)
        #expect(stage.server.spool.totalBytes == 0)
        #expect(stage.server.spool.count == 0)
    }

    @Test("Files of an earlier daemon are removed, and nothing else")
    func orphans() throws {
        let folder = TemporaryFolder()
        mkdir(folder("spool"), 0o700)
        folder.write("spool/r_old_1", "left behind")
        folder.write("spool/notes.txt", "somebody's")
        _ = try Spool(directory: folder("spool"), limits: Limits(), files: try Self.files())
        #expect(folder.names(in: "spool") == ["notes.txt"])
    }

    @Test("A folder that cannot be made is named")
    func noFolder() throws {
        let error = try #require(throws: SystemError.self) {
            try Spool(directory: "/proc/none/spool", limits: Limits(), files: try Self.files())
        }
        #expect(error.description.contains("/proc/none/spool"))
    }

    @Test("A disk that is full fails the request, and its body is deleted at once")
    func fullDisk() throws {
        let stage = try Stage { $0.limits.spoolBytes = 100_000 }
        let client = FakeClient()
        let entry = try stage.submit(client, #","response_body":"file""#)
        try entry.request.receive([UInt8](repeating: 1, count: 90_000))
        #expect(stage.server.spool.totalBytes == 90_000)
        #expect(throws: SessionError.self) { try entry.request.receive([UInt8](repeating: 1, count: 20_000)) }
        #expect(stage.server.spool.totalBytes == 0)
        #expect(stage.server.spool.count == 0)
    }
}
