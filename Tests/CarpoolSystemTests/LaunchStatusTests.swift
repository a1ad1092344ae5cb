@testable import CarpoolSystem
import Glibc
import Testing

struct LaunchStatusTests {
    @Test func oneLineIsWrittenAndThePipeClosed() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let reader = FileDescriptor(owning: ends[0])
        LaunchStatus.take(String(ends[1])).reportFailure("no\nroom")
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(buffer.withUnsafeMutableBytes { Bytes.read(reader.raw, into: $0) } == .bytes(8))
        #expect(String(decoding: buffer.prefix(8), as: UTF8.self) == "no room\n")
        #expect(buffer.withUnsafeMutableBytes { Bytes.read(reader.raw, into: $0) } == .endOfFile)
    }

    @Test func whatIsNoPipeIsLeftAlone() throws {
        var template = Array("/tmp/carpool-status-XXXXXX".utf8CString)
        let file = FileDescriptor(owning: mkstemp(&template))
        unlink(template)
        for value in [nil, "", "x", "-4", "99999", String(file.raw)] { LaunchStatus.take(value).reportReady() }
        var info = stat()
        #expect(fstat(file.raw, &info) == 0, "it is still open")
        #expect(info.st_size == 0)
    }

    @Test func theLimitOfOpenFilesIsTheHardOne() {
        #expect(ResourceLimits.raiseOpenFiles() > 0)
        #expect(ResourceLimits.raiseOpenFiles() == ResourceLimits.raiseOpenFiles())
    }
}
