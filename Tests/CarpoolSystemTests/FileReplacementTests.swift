import CarpoolSystem
import Glibc
import Testing

struct FileReplacementTests {
    private let directory = TemporaryDirectory()

    private func content(_ name: String) throws -> String {
        let file = try FileDescriptor.open(directory(name), O_RDONLY)
        return String(decoding: try Bytes.readAll(file.raw, atMost: 4_096, path: name), as: UTF8.self)
    }

    private func made(_ text: String, at path: String) throws -> FileDescriptor {
        let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        try BlockingOutput(borrowing: file.raw).write(Array(text.utf8))
        return file
    }

    private func put(_ text: String, _ source: FileReplacement.Source, from path: String) throws -> FileStatus {
        let folder = try Folder.resolving(directory.path)
        let file = try made(text, at: path)
        let identity = try FileReplacement(of: "file", in: folder).put(file.raw, source, mode: 0o640)
        let status = try folder.status(of: "file")
        #expect(status.identity == identity)
        return status
    }

    @Test func aNewFileHasTheGivenMode() throws {
        let folder = try Folder.resolving(directory.path)
        let status = try put("new", .named("part", folder), from: directory("part"))
        #expect(try content("file") == "new" && status.permissions == 0o640)
    }

    @Test func anOldFileKeepsItsModeInANewInode() throws {
        let folder = try Folder.resolving(directory.path)
        let file = try made("the old content", at: directory("file"))
        let old = try FileStatus(of: file.raw)
        let status = try put("new", .named("part", folder), from: directory("part"))
        #expect(try content("file") == "new" && status.permissions == 0o600 && status.identity != old.identity)
        #expect(access(directory("part"), F_OK) != 0)
    }

    @Test func aFileOfAnotherFileSystemIsCopied() throws {
        let elsewhere = try Folder.resolving("/dev/shm")
        let name = "carpool-\(getpid())"
        defer { try? elsewhere.unlink(name) }
        let file = try made("the old content", at: directory("file"))
        let old = try FileStatus(of: file.raw)
        let status = try put("new", .named(name, elsewhere), from: "/dev/shm/\(name)")
        #expect(try content("file") == "new" && status.identity == old.identity)
        #expect(access("/dev/shm/\(name)", F_OK) != 0)
    }

    @Test func aFileWithTwoNamesIsWritten() throws {
        let folder = try Folder.resolving(directory.path)
        _ = try made("the old content", at: directory("file"))
        #expect(link(directory("file"), directory("other")) == 0)
        _ = try put("new", .named("part", folder), from: directory("part"))
        #expect(try content("other") == "new" && access(directory("part"), F_OK) != 0)
    }

    @Test func aFileWithTwoNamesGetsAModeThatIsFixed() throws {
        let folder = try Folder.resolving(directory.path)
        let old = try made("the old content", at: directory("file"))
        #expect(fchmod(old.raw, 0o644) == 0 && link(directory("file"), directory("other")) == 0)
        let file = try made("new", at: directory("part"))
        let replacement = try FileReplacement(of: "file", in: folder)
        _ = try replacement.put(file.raw, .named("part", folder), mode: 0o600, isFixed: true)
        let status = try folder.status(of: "other")
        #expect(try content("other") == "new" && status.permissions == 0o600 && status.links == 2)
    }

    @Test func aFolderIsNotReplaced() throws {
        #expect(mkdir(directory("file"), 0o700) == 0)
        let folder = try Folder.resolving(directory.path)
        let error = #expect(throws: SystemError.self) { _ = try FileReplacement(of: "file", in: folder) }
        #expect(error?.code == EISDIR)
    }
}
