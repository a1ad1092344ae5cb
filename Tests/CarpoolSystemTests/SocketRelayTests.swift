import Glibc
import Testing

@testable import CarpoolSystem

@Suite(.timeLimit(.minutes(1))) struct SocketRelayTests {
    /// A relay between the ends of two pairs of sockets.
    private final class Stage {
        let loop: EventLoop
        let worker: Worker
        let relay: SocketRelay
        /// The client's own end, and its reference to the passed one.
        let peer: Int32
        let passed: Int32
        /// The end that the relay has returned.
        var end: Int32

        init() throws {
            loop = try EventLoop()
            worker = Worker(loop: loop)
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            (peer, passed) = (ends[0], ends[1])
            let file = WorkerFile(FileDescriptor(owning: dup(passed)), closer: nil)
            let access = WorkerAccess(worker, share: WorkerShare(user: 1, client: "relay"))
            let started = try #require(SocketRelay.start(file, loop: loop, worker: access))
            (relay, end) = started
        }

        deinit {
            for raw in [peer, passed, end] where raw >= 0 { close(raw) }
        }

        /// Runs the loop until the condition holds; false after some time.
        func run(milliseconds: Int = 10_000, until condition: @escaping () -> Bool) -> Bool {
            let limit = MonotonicTime.read().advanced(milliseconds: milliseconds)
            var timer: CarpoolSystem.Timer?
            let check = CarpoolSystem.Timer { [unowned self] in
                guard !condition(), MonotonicTime.read() < limit, let timer else { return loop.stop() }
                loop.arm(timer, afterMilliseconds: 1)
            }
            timer = check
            loop.arm(check, afterMilliseconds: 0)
            loop.run()
            timer = nil
            return condition()
        }
    }

    private static func read(_ raw: Int32, into bytes: inout [UInt8]) -> IOResult {
        var room = [UInt8](repeating: 0, count: 100_000)
        let result = room.withUnsafeMutableBytes { Bytes.receive(raw, into: $0) }
        if case .bytes(let count) = result { bytes += room[..<count] }
        return result
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to raw: Int32) -> Int {
        let result = Array(bytes).withUnsafeBytes { Bytes.sendWithoutWaiting(raw, $0) }
        if case .bytes(let count) = result { return count }
        return 0
    }

    @Test func bytesGoInBothDirectionsAtATime() throws {
        let stage = try Stage()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var (toPeer, toEnd): ([UInt8], [UInt8]) = ([], [])
        var (sentToPeer, sentToEnd) = (0, 0)
        let hasMoved = stage.run {
            sentToPeer += Self.send(bytes[sentToPeer...], to: stage.end)
            sentToEnd += Self.send(bytes[sentToEnd...], to: stage.peer)
            while case .bytes = Self.read(stage.peer, into: &toPeer) {}
            while case .bytes = Self.read(stage.end, into: &toEnd) {}
            return toPeer.count == bytes.count && toEnd.count == bytes.count
        }
        #expect(hasMoved)
        #expect(toPeer == bytes && toEnd == bytes)
    }

    @Test("A client that makes its socket wait, and sends nothing, does not stop the loop")
    func blockingMode() throws {
        let stage = try Stage()
        #expect(fcntl(stage.passed, F_GETFL) & O_NONBLOCK == 0)
        let bytes = [UInt8](repeating: 7, count: 3_000_000)
        var received: [UInt8] = []
        var sent = 0
        func send() -> Bool {
            sent += Self.send(bytes[sent...], to: stage.end)
            return sent == bytes.count
        }
        // While the peer reads nothing, everything fills up, and the loop still turns.
        #expect(!stage.run(milliseconds: 100) { send() })
        let hasArrived = stage.run {
            while case .bytes = Self.read(stage.peer, into: &received) {}
            return send() && received.count == bytes.count
        }
        #expect(hasArrived)
        #expect(fcntl(stage.passed, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test func theEndOfThePeerFollowsItsLastByte() throws {
        let stage = try Stage()
        #expect(Self.send([1, 2, 3], to: stage.peer) == 3)
        shutdown(stage.peer, Int32(SHUT_WR))
        var received: [UInt8] = []
        var hasEnded = false
        #expect(
            stage.run {
                if case .endOfFile = Self.read(stage.end, into: &received) { hasEnded = true }
                return hasEnded
            })
        #expect(received == [1, 2, 3])
        // The other direction continues.
        #expect(Self.send([4], to: stage.end) == 1)
        received = []
        #expect(
            stage.run {
                _ = Self.read(stage.peer, into: &received); return received == [4]
            })
    }

    @Test func whatWasWrittenBeforeTheEndIsSent() throws {
        let stage = try Stage()
        #expect(Self.send([1, 2, 3], to: stage.end) == 3)
        stage.relay.end()
        close(stage.end)
        stage.end = -1
        var received: [UInt8] = []
        #expect(
            stage.run {
                _ = Self.read(stage.peer, into: &received); return received == [1, 2, 3]
            })
        #expect(stage.run { stage.worker.isIdle })
    }

    @Test func anEndWhileThePeerReadsNothingLeavesNothingBehind() throws {
        let stage = try Stage()
        var sent = 1
        while sent > 0 { sent = Self.send([UInt8](repeating: 0, count: 65_536)[...], to: stage.end) }
        stage.relay.end()
        close(stage.end)
        stage.end = -1
        #expect(stage.run { stage.worker.isIdle })
        // The relay has no more reference to the passed socket: its peer reads the end when the client closes its own.
        var received: [UInt8] = []
        shutdown(stage.passed, Int32(SHUT_WR))
        #expect(
            stage.run {
                if case .endOfFile = Self.read(stage.peer, into: &received) { return true }
                return false
            })
    }
}
