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

    @Test(arguments: [nil, "", "x", "1", "-4", "99999"])
    func whatIsNoPipeIsLeftAlone(_ value: String?) {
        LaunchStatus.take(value).reportReady()
    }

    @Test func theLimitOfOpenFilesIsTheHardOne() {
        #expect(ResourceLimits.raiseOpenFiles() > 0)
        #expect(ResourceLimits.raiseOpenFiles() == ResourceLimits.raiseOpenFiles())
    }
}
