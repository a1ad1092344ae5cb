import Glibc
import Testing

@testable import CarpoolSystem

@Suite(.timeLimit(.minutes(1))) struct PassedOutputTests {
    /// A pipe that blocks.
    private final class Pipe {
        private(set) var read: Int32
        private(set) var write: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw SystemError.last("pipe") }
            (read, write) = (ends[0], ends[1])
        }

        deinit {
            closeReader()
            closeWriter()
        }

        func take(_ count: Int) -> [UInt8] {
            var room = [UInt8](repeating: 0, count: count)
            let taken = room.withUnsafeMutableBytes { Glibc.read(read, $0.baseAddress, count) }
            return Array(room.prefix(max(0, taken)))
        }

        func closeReader() {
            if read >= 0 { close(read) }
            read = -1
        }

        func closeWriter() {
            if write >= 0 { close(write) }
            write = -1
        }
    }

    @Test("A pipe is written without waiting, on every kernel, and stays as it was", arguments: [false, true])
    func pipes(_ splices: Bool) throws {
        let pipe = try Pipe()
        let writer = PipeWriter(alwaysSplices: splices)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        var (written, received): (Int, [UInt8]) = (0, [])
        var waits = 0
        while written < bytes.count {
            let result = bytes.withUnsafeBytes {
                writer.write(pipe.write, UnsafeRawBufferPointer(rebasing: $0[written...]))
            }
            switch result {
            case .bytes(let count): written += count
            case .wouldBlock:
                waits += 1
                received += pipe.take(10_000)
            default: Issue.record("\(result)")
            }
        }
        while received.count < written { received += pipe.take(100_000) }
        #expect(received == bytes)
        #expect(waits > 0)
        #expect(fcntl(pipe.write, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test("Bytes in the private pipe do not count as written", arguments: [false, true])
    func lostReaders(_ splices: Bool) throws {
        let pipe = try Pipe()
        let writer = PipeWriter(alwaysSplices: splices)
        let bytes = [UInt8](repeating: 1, count: 100_000)
        func write() -> IOResult { bytes.withUnsafeBytes { writer.write(pipe.write, $0) } }
        signal(SIGPIPE, SIG_IGN)
        var written = 0
        while case .bytes(let count) = write() { written += count }
        #expect(written > 0 && write() == .wouldBlock)
        pipe.closeReader()
        #expect(write() == .failed(EPIPE))
    }

    @Test("The reader of a closed output sees the end at once, and its number stays taken")
    func closing() throws {
        let pipe = try Pipe()
        let copy = dup(pipe.write)
        let output = PassedOutput(WorkerFile(FileDescriptor(owning: copy), closer: nil), .pipe)
        pipe.closeWriter()
        #expect([1, 2, 3].withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in output.write(bytes) } != .wouldBlock)
        #expect(!output.hasLostReader)
        output.close()
        #expect(pipe.take(100).count == 24)
        #expect(pipe.take(100).isEmpty)
        #expect(fcntl(copy, F_GETFD) >= 0)
    }

    @Test("A pipe without a reader, and a socket without a peer, have lost their reader")
    func ends() throws {
        let pipe = try Pipe()
        let output = PassedOutput(WorkerFile(FileDescriptor(owning: dup(pipe.write)), closer: nil), .pipe)
        pipe.closeReader()
        #expect(output.hasLostReader)
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let socket = PassedOutput(WorkerFile(FileDescriptor(owning: ends[0]), closer: nil), .socket)
        #expect(!socket.hasLostReader)
        shutdown(ends[1], Int32(SHUT_WR))
        #expect(!socket.hasLostReader, "it still reads")
        close(ends[1])
        #expect(socket.hasLostReader)
    }
}
