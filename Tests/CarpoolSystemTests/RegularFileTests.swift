import Glibc
import Testing

@testable import CarpoolSystem

@Suite(.timeLimit(.minutes(1))) struct RegularFileTests {
    private let folder = TemporaryDirectory()

    private func write(_ name: String, _ text: String) throws -> String {
        let path = "\(folder.path)/\(name)"
        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT, mode: 0o640)
        try Array(text.utf8).withUnsafeBytes { try Bytes.writeAll(file.raw, $0) }
        return path
    }

    private func failure(_ path: String) -> RegularFile.Failure? {
        do throws(RegularFile.Failure) {
            _ = try RegularFile.open(path)
            return nil
        } catch {
            return error
        }
    }

    @Test func aFileIsOpenedThroughLinksAndKnownByItsPath() throws {
        let path = try write("file", "hello")
        symlink(path, "\(folder.path)/link")
        let file = try RegularFile.open("\(folder.path)/link")
        #expect(file.path == path)
        #expect(file.size == 5)
        #expect(file.owner == geteuid())
        #expect(file.permissions & 0o700 == 0o600)
        #expect(try Bytes.readAll(file.descriptor.raw, atMost: 10, path: path) == Array("hello".utf8))
    }

    @Test func a7TheProcessSOwnFilesAreRefusedHoweverTheyAreNamed() throws {
        let own = try FileDescriptor.open(try write("file", "x"), O_RDONLY)
        symlink("/proc/self/fd/\(own.raw)", "\(folder.path)/link")
        for path in [
            "/proc/self/fd/\(own.raw)", "/proc/\(getpid())/fd/\(own.raw)", "/dev/fd/\(own.raw)", "/dev/stdin",
            "\(folder.path)/link", "/proc/self/environ", "/proc/self/cwd/Package.swift", "/proc/version",
        ] {
            guard case .ofThisProcess? = failure(path) else {
                Issue.record("\(path): \(String(describing: failure(path)))")
                continue
            }
        }
    }

    @Test func whatIsNoRegularFileIsNotOpened() throws {
        mkfifo("\(folder.path)/pipe", 0o600)
        symlink("\(folder.path)/loop", "\(folder.path)/loop")
        func reason(_ path: String) -> Int32? { failure(path)?.reason.code }
        #expect(reason("\(folder.path)/pipe") == EINVAL)
        #expect(reason("/dev/null") == EINVAL)
        #expect(reason(folder.path) == EISDIR)
        #expect(reason("\(folder.path)/absent") == ENOENT)
        guard case .unreachable(let error)? = failure("\(folder.path)/loop") else {
            Issue.record("a loop of links is not the process's own")
            return
        }
        #expect(error.code == ELOOP)
    }
}
