import Glibc
import Testing

@testable import CarpoolSystem

@Suite(.timeLimit(.minutes(1))) struct PipeReaderTests {
    /// A pipe that blocks.
    private final class Pipe {
        let read: FileDescriptor
        private var write: FileDescriptor?

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw SystemError.last("pipe") }
            read = FileDescriptor(owning: ends[0])
            write = FileDescriptor(owning: ends[1])
        }

        func put(_ count: Int) throws {
            guard let raw = write?.raw else { return }
            try [UInt8](repeating: 7, count: count).withUnsafeBytes { try Bytes.writeAll(raw, $0) }
        }

        func end() { write = nil }
    }

    @Test("a6: a pipe is read without waiting and stays as it was", arguments: [false, true])
    func reads(_ splices: Bool) throws {
        let pipe = try Pipe()
        let reader = PipeReader(alwaysSplices: splices)
        var room = [UInt8](repeating: 0, count: 1_000)
        func read() -> IOResult { room.withUnsafeMutableBytes { reader.read(pipe.read.raw, into: $0) } }
        #expect(read() == .wouldBlock)
        try pipe.put(2_500)
        #expect(read() == .bytes(1_000))
        #expect(read() == .bytes(1_000))
        #expect(read() == .bytes(500))
        #expect(room.prefix(500).allSatisfy { $0 == 7 })
        #expect(read() == .wouldBlock)
        try pipe.put(1)
        pipe.end()
        #expect(read() == .bytes(1))
        #expect(read() == .endOfFile)
        #expect(fcntl(pipe.read.raw, F_GETFL) & O_NONBLOCK == 0)
    }
}
