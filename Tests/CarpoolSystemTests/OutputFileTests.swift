import CarpoolSystem
import Glibc
import Testing

struct OutputFileTests {
    private let directory = TemporaryDirectory()

    private func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    private func write(_ text: String, to path: String, commits: Bool = true) throws {
        let file = try OutputFile(path)
        try BlockingOutput(borrowing: file.descriptor.raw).write(Array(text.utf8))
        if commits { try file.commit() }
    }

    private func names() -> [String] {
        var names: [String] = []
        guard let folder = opendir(directory.path) else { return [] }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    @Test func aFileIsReplacedWhenAllIsWritten() throws {
        try write("old", to: directory("f"))
        let file = try OutputFile(directory("f"))
        try BlockingOutput(borrowing: file.descriptor.raw).write(Array("new".utf8))
        #expect(read(directory("f")) == "old")
        try file.commit()
        #expect(read(directory("f")) == "new")
        #expect(names() == ["f"])
    }

    @Test func anUnnamedFileReplacesToo() throws {
        try write("old", to: directory("f"))
        let file = try OutputFile(directory("f"), mode: 0o640, staysUnnamed: true)
        try BlockingOutput(borrowing: file.descriptor.raw).write(Array("new".utf8))
        #expect(names() == ["f"] && read(directory("f")) == "old")
        try file.commit()
        #expect(names() == ["f"] && read(directory("f")) == "new")
        var info = stat()
        #expect(stat(directory("f"), &info) == 0 && info.st_mode & 0o777 == 0o640)
    }

    @Test func withoutCommitNothingHasHappened() throws {
        try write("old", to: directory("f"))
        try write("new", to: directory("f"), commits: false)
        try write("new", to: directory("g"), commits: false)
        #expect(read(directory("f")) == "old")
        #expect(names() == ["f"])
    }

    @Test func aLinkIsFollowedAndStays() throws {
        try write("old", to: directory("target"))
        symlink("target", directory("link"))
        try write("new", to: directory("link"))
        #expect(read(directory("target")) == "new")
        #expect(names() == ["link", "target"])
    }

    @Test func aLinkToAFileThatDoesNotExistIsFollowedAndStays() throws {
        symlink("second", directory("first"))
        symlink("target", directory("second"))
        try write("new", to: directory("first"))
        #expect(read(directory("target")) == "new")
        #expect(names() == ["first", "second", "target"])
    }

    @Test(arguments: ["/proc/self/fd", "/dev/fd"])
    func anOpenDescriptorIsWrittenWhereItStands(_ folder: String) throws {
        let fd = open(directory("f"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(fd) }
        try BlockingOutput(borrowing: fd).write(Array("head ".utf8))
        symlink("\(folder)/\(fd)", directory("link"))
        try write("body", to: directory("link"))
        #expect(read(directory("f")) == "head body")
        unlink(directory("f"))
        try write(" tail", to: directory("link"))
        #expect(names() == ["link"])
        #expect(lseek(fd, 0, SEEK_END) == 14)
    }

    @Test func thePlaceIsBehindAllLinks() throws {
        symlink("second", directory("first"))
        symlink(directory("target"), directory("second"))
        symlink("/proc/self/fd/1", directory("output"))
        #expect(try OutputFile.place(of: directory("first")) == directory("target"))
        #expect(try OutputFile.place(of: directory("target")) == directory("target"))
        #expect(try OutputFile.place(of: "name") == "name")
        for path in [directory("output"), "/dev/fd/1", "/proc/self/fd/99"] {
            #expect(try OutputFile.place(of: path) == nil)
        }
    }

    @Test func aPipeIsWrittenInPlace() throws {
        mkfifo(directory("pipe"), 0o600)
        // Open for both, so that opening it for writing does not wait for a reader.
        let reader = try FileDescriptor.open(directory("pipe"), O_RDWR | O_NONBLOCK)
        try write("through", to: directory("pipe"))
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(buffer.withUnsafeMutableBytes { Bytes.read(reader.raw, into: $0) } == .bytes(7))
        try write("nowhere", to: "/dev/null")
    }

    @Test func aPlaceThatCannotBeWrittenIsNamed() {
        let error = #expect(throws: SystemError.self) { _ = try OutputFile(directory("none/f")) }
        #expect(error?.code == ENOENT)
        #expect(error?.subject == directory("none/f"))
        #expect(throws: SystemError.self) { _ = try OutputFile(directory.path) }
    }

    @Test func aLargeFileIsCopiedWhateverTheOutputIs() throws {
        let bytes = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let source = try FileDescriptor.open(directory("source"), O_RDWR | O_CREAT, mode: 0o600)
        try BlockingOutput(borrowing: source.raw).write(bytes)
        for flags in [O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_APPEND] {
            lseek(source.raw, 0, SEEK_SET)
            let target = try FileDescriptor.open(directory("target-\(flags)"), flags, mode: 0o600)
            try BlockingOutput(borrowing: target.raw).copy(from: source)
            var copy = [UInt8](repeating: 0, count: bytes.count + 1)
            #expect(pread(target.raw, &copy, copy.count, 0) == bytes.count)
            #expect(copy.dropLast() == bytes[...])
        }
    }

    @Test func aTemporaryFileGoesWithItsValue() throws {
        do {
            let file = try TemporaryFile(in: directory.path)
            #expect(mode(of: file.path) == 0o600)
        }
        #expect(names() == [])
    }
}
