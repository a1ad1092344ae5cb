@testable import CarpoolServer
import CarpoolSystem
import Glibc
import Testing

struct OutputQueueTests {
    /// Two ends of a socket that do not block.
    fileprivate final class Pair {
        let near: Int32
        let far: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends)
            (near, far) = (ends[0], ends[1])
        }

        func read() -> [UInt8] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while case .bytes(let count) = buffer.withUnsafeMutableBytes({ Bytes.read(far, into: $0) }) {
                bytes += buffer[..<count]
            }
            return bytes
        }

        deinit {
            close(near)
            close(far)
        }
    }

    @Test("Messages of any size arrive complete and in order, however often the socket is full")
    func order() {
        let pair = Pair()
        var queue = OutputQueue()
        var expected: [UInt8] = []
        var received: [UInt8] = []
        for (i, size) in [1, 10, 70_000, 3, 65_536, 65_535, 0, 500_000, 2, 1_000_000, 5].enumerated() {
            let message = [UInt8](repeating: UInt8(i), count: size)
            expected += message
            queue.append { $0 += message }
            // A socket that is full in the middle of a piece is followed by more messages.
            _ = queue.flush(to: pair.near)
            if i.isMultiple(of: 3) { received += pair.read() }
        }
        #expect(queue.count == expected.count - received.count - pair.unread)
        while !queue.isEmpty {
            received += pair.read()
            _ = queue.flush(to: pair.near)
        }
        received += pair.read()
        #expect(received == expected)
        #expect(queue.count == 0)
        #expect(queue.flush(to: pair.near) == .bytes(0))
    }

    @Test("Descriptors are sent with their messages, and no byte is lost between them")
    func descriptors() throws {
        let pair = Pair()
        var queue = OutputQueue()
        queue.append { $0 += [1, 1] }
        for _ in 0..<2 {
            queue.attach(WorkerFile(try FileDescriptor.sealed([7]), closer: nil))
            queue.append { $0 += [2, 2, 2] }
        }
        #expect(queue.descriptorCount == 2)
        #expect(queue.flush(to: pair.near) == .bytes(0))
        #expect(queue.descriptorCount == 0)
        #expect(pair.read() == [1, 1, 2, 2, 2, 2, 2, 2])
    }

    @Test("A full socket is no error; one whose other end is closed is")
    func results() {
        let pair = Pair()
        var queue = OutputQueue()
        queue.append { $0 += [UInt8](repeating: 1, count: 1_000_000) }
        #expect(queue.flush(to: pair.near) == .wouldBlock)
        #expect(!queue.isEmpty)
        shutdown(pair.far, Int32(SHUT_RDWR))
        #expect(queue.flush(to: pair.near) == .failed(EPIPE))
    }
}

extension OutputQueueTests.Pair {
    /// Bytes that are in the socket.
    fileprivate var unread: Int {
        var count: Int32 = 0
        _ = ioctl(far, UInt(FIONREAD), &count)
        return Int(count)
    }
}
