import CarpoolHTTP
import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolSession

/// A body that jobs of the worker read from a pipe or a socket.
@Suite(.timeLimit(.minutes(1))) struct DescriptorSourceTests {
    /// A source, and the end that is written.
    private struct Stage {
        let loop: EventLoop
        let worker: Worker
        let source: DescriptorSource
        let raw: Int32
        private(set) var write: Int32

        init(isSocket: Bool = false, kind: __socket_type = SOCK_STREAM, lengthBytes: Int64? = nil) throws {
            loop = try EventLoop()
            worker = Worker(loop: loop)
            let access = worker.access(for: WorkerShare(user: 1, client: "test"))
            var ends: [Int32] = [-1, -1]
            let made = isSocket ? socketpair(AF_UNIX, Int32(kind.rawValue), 0, &ends) : pipe(&ends)
            guard made == 0 else { throw SystemError.last("pipe") }
            raw = ends[0]
            write = ends[1]
            source = DescriptorSource(
                WorkerFile(FileDescriptor(owning: raw), closer: access.closerOfPassed), isSocket: isSocket,
                lengthBytes: lengthBytes, loop: loop, worker: access)
        }

        func put(_ text: String) throws {
            try Array(text.utf8).withUnsafeBytes { try Bytes.writeAll(write, $0) }
        }

        mutating func end() {
            close(write)
            write = -1
        }

        /// Whether no reader is left.
        var isClosed: Bool {
            var look = pollfd(fd: write, events: 0, revents: 0)
            return poll(&look, 1, 0) == 1 && Int32(look.revents) & (Int32(POLLERR) | Int32(POLLHUP)) != 0
        }

        /// Reads once; results without bytes are returned as `<wait>` and the like.
        func read(atMost count: Int = 64) -> String {
            var bytes = [UInt8](repeating: 0, count: count)
            return bytes.withUnsafeMutableBytes { room in
                switch source.read(into: room) {
                case .bytes(let count): String(decoding: room[..<count], as: UTF8.self)
                case .end: "<end>"
                case .wait: "<wait>"
                case .failed(let error): "<\(error.code.rawValue)>"
                }
            }
        }

        /// Reads, in turns of the loop, until there are bytes.
        func readWhenReady(atMost count: Int = 64) -> String {
            source.onReady = { loop.stop() }
            while true {
                let text = read(atMost: count)
                guard text == "<wait>" else { return text }
                loop.run()
            }
        }

        /// Runs the loop until a condition holds.
        func turn(until isDone: @escaping () -> Bool) {
            let timer = Look()
            timer.action = { isDone() ? loop.stop() : loop.arm(timer.timer, afterMilliseconds: 1) }
            loop.arm(timer.timer, afterMilliseconds: 0)
            loop.run()
        }
    }

    private final class Look {
        var action: () -> Void = {}
        lazy var timer = Timer { [unowned self] in action() }
    }

    @Test("b2: a socket that is ready and has nothing to read is polled once in ten milliseconds")
    func restsWithoutBytes() throws {
        let stage = try Stage(isSocket: true, kind: SOCK_DGRAM)
        #expect(shutdown(stage.raw, Int32(SHUT_RD)) == 0)
        let start = MonotonicTime.read()
        #expect(stage.read() == "<wait>")
        stage.turn { stage.worker.statistics.jobs >= 6 }
        // Four rests are between six jobs.
        #expect(MonotonicTime.read().microseconds(since: start) >= 30_000)
        stage.source.close()
        close(stage.write)
    }

    @Test("a6: available bytes are read by a job, not by the caller", arguments: [false, true])
    func readsByAJob(_ isSocket: Bool) throws {
        var stage = try Stage(isSocket: isSocket)
        try stage.put("hello")
        #expect(stage.read() == "<wait>")
        #expect(!stage.worker.isIdle)
        #expect(stage.readWhenReady(atMost: 2) == "he")
        #expect(stage.readWhenReady() == "llo")
        #expect(stage.read() == "<wait>")
        try stage.put("!")
        #expect(stage.readWhenReady() == "!")
        stage.end()
        #expect(stage.readWhenReady() == "<end>")
        #expect(fcntl(stage.raw, F_GETFL) & O_NONBLOCK == 0)
        stage.source.close()
        #expect(stage.read() == "<request_body_stream_exhausted>")
    }

    @Test("Large bodies are read completely", arguments: [false, true], [1_000, 100_000])
    func whole(_ isSocket: Bool, _ size: Int) throws {
        let stage = try Stage(isSocket: isSocket)
        let bytes = (0..<1_000_003).map { UInt8(ascii: "a") + UInt8($0 % 23) }
        let text = String(decoding: bytes, as: UTF8.self)
        let write = stage.write
        try stage.worker.run(for: .process) {
            bytes.withUnsafeBytes { try? Bytes.writeAll(write, $0) }
            close(write)
        } then: {
        }
        var found = ""
        while true {
            let piece = stage.readWhenReady(atMost: size)
            guard piece != "<end>" else { break }
            found += piece
        }
        #expect(found == text)
    }

    @Test("Bytes after the body are left for the caller", arguments: [false, true])
    func leavesTheRest(_ isSocket: Bool) throws {
        let stage = try Stage(isSocket: isSocket, lengthBytes: 5)
        try stage.put("hello and more")
        let copy = dup(stage.raw)
        defer { close(copy) }
        #expect(stage.readWhenReady() == "hello")
        #expect(stage.readWhenReady() == "<end>")
        stage.source.close()
        stage.turn { stage.worker.isIdle }
        var room = [UInt8](repeating: 0, count: 64)
        #expect(room.withUnsafeMutableBytes { Bytes.read(copy, into: $0) } == .bytes(9))
        #expect(String(decoding: room[..<9], as: UTF8.self) == " and more")
    }

    @Test func itBeginsAgainUntilTheFirstByteIsHandedOut() throws {
        let stage = try Stage()
        try stage.put("hello")
        #expect(stage.read() == "<wait>")
        stage.turn { stage.worker.isIdle }
        #expect(stage.source.canRestart)
        stage.source.restart()
        #expect(stage.readWhenReady(atMost: 1) == "h")
        #expect(!stage.source.canRestart)
    }

    @Test("A source that is closed while a job reads closes its descriptor behind it", arguments: [false, true])
    func closesBehindTheJob(_ isSocket: Bool) throws {
        let stage = try Stage(isSocket: isSocket)
        var calls = 0
        #expect(stage.read() == "<wait>")
        stage.source.onReady = { calls += 1 }
        try stage.put("hello")
        stage.source.close()
        #expect(!stage.source.canRestart)
        // Its number may be another test's by now.
        stage.turn { stage.isClosed }
        #expect(calls == 0)
    }

    @Test func whatCannotBeReadFails() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let source = DescriptorSource(
            WorkerFile(FileDescriptor(owning: listener), closer: nil), isSocket: true, lengthBytes: nil, loop: loop,
            worker: worker.access(for: .process))
        source.onReady = { loop.stop() }
        var room = [UInt8](repeating: 0, count: 8)
        guard case .wait = room.withUnsafeMutableBytes({ source.read(into: $0) }) else {
            Issue.record("a job reads it")
            return
        }
        loop.run()
        guard case .failed(let error) = room.withUnsafeMutableBytes({ source.read(into: $0) }) else {
            Issue.record("it is not connected")
            return
        }
        #expect(error.code == .requestBodyStreamExhausted)
        #expect(error.systemCode == ENOTCONN)
    }
}
