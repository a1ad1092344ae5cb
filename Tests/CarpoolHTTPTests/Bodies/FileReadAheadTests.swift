import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolHTTP

@Suite(.timeLimit(.minutes(1))) struct FileReadAheadTests {
    private static func file(_ count: Int, _ worker: WorkerAccess?) throws -> BodyFile {
        let file = try FileDescriptor.unnamed(in: "/tmp")
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try bytes.withUnsafeBytes { try Bytes.writeAll(file.raw, $0) }
        return BodyFile(WorkerFile(file, closer: worker?.closer), sizeBytes: Int64(count), worker: worker)
    }

    /// Whether these are the bytes of that range of ``file(_:_:)``. Not within `#expect`, which computes the difference
    /// of two arrays for minutes and prints them.
    private static func isPart(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        bytes == range.map { UInt8(truncatingIfNeeded: $0 &* 7) }
    }

    /// Reads to the end, or to a failure, on a loop of its own.
    private static func readAll(
        _ reader: FileReadAhead, _ loop: EventLoop, by size: Int
    ) -> (bytes: [UInt8], failure: TransportError?) {
        var bytes: [UInt8] = []
        var failure: TransportError?
        var room = [UInt8](repeating: 0, count: size)
        func read() {
            while true {
                switch room.withUnsafeMutableBytes({ reader.read(into: $0) }) {
                case .bytes(let count): bytes += room[..<count]
                case .wait: return
                case .end: return loop.stop()
                case .failed(let error):
                    failure = error
                    return loop.stop()
                }
            }
        }
        reader.onReady = read
        let start = Timer { read() }
        loop.arm(start, afterMilliseconds: 0)
        loop.run()
        return (bytes, failure)
    }

    @Test("A range is read completely with any size of the reads", arguments: [true, false], [1_000, 65_536, 524_288])
    func whole(_ isAhead: Bool, _ size: Int) throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop).access(for: .process)
        let file = try Self.file(1_000_001, isAhead ? worker : nil)
        let reader = FileReadAhead(file, offset: 11, length: 999_980)
        let found = Self.readAll(reader, loop, by: size)
        #expect(found.failure == nil)
        #expect(found.bytes.count == 999_980)
        let isRange = Self.isPart(found.bytes, 11..<999_991)
        #expect(isRange)
    }

    @Test("It goes back to the first byte, also while it reads")
    func restarts() throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop).access(for: .process)
        let reader = FileReadAhead(try Self.file(600_000, worker), offset: 0, length: 600_000)
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 100_000)
        var hasRestarted = false
        func read() {
            while true {
                switch room.withUnsafeMutableBytes({ reader.read(into: $0) }) {
                case .bytes(let count): bytes += room[..<count]
                case .wait: return
                case .end, .failed: return loop.stop()
                }
                guard !hasRestarted else { continue }
                hasRestarted = true
                bytes = []
                reader.restart()
            }
        }
        reader.onReady = read
        read()
        loop.run()
        #expect(hasRestarted)
        let isWhole = Self.isPart(bytes, 0..<600_000)
        #expect(isWhole)
    }

    @Test("A file that has become shorter is a failure", arguments: [true, false])
    func shrinks(_ isAhead: Bool) throws {
        let loop = try EventLoop()
        let worker = Worker(loop: loop).access(for: .process)
        let file = try Self.file(100_000, isAhead ? worker : nil)
        let reader = FileReadAhead(file, offset: 0, length: 100_001)
        let found = Self.readAll(reader, loop, by: 65_536)
        #expect(found.bytes.count == 100_000)
        #expect(found.failure?.code == .requestBodyStreamExhausted)
        #expect(found.failure?.message.contains("100001 bytes") == true)
    }
}
