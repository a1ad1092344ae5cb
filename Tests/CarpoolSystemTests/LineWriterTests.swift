import CarpoolSystem
import Glibc
import Synchronization
import Testing

struct LineWriterTests {
    /// A pipe that stays open: the writer's thread lives as long as the program.
    private func makePipe() throws -> (input: Int32, output: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test("Lines are written in order, and a flush waits for them", .timeLimit(.minutes(1)))
    func order() throws {
        let (input, output) = try makePipe()
        let writer = LineWriter(output) { "dropped \($0)\n" }
        for number in 0..<100 { writer.write("line \(number)\n") }
        writer.flush(milliseconds: 10_000)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        guard case .bytes(let count) = bytes.withUnsafeMutableBytes({ Bytes.read(input, into: $0) }) else {
            Issue.record("nothing was written")
            return
        }
        #expect(String(decoding: bytes[..<count], as: UTF8.self) == (0..<100).map { "line \($0)\n" }.joined())
        #expect(writer.dropped == 0)
    }

    @Test("Lines that cross the end of the queue's memory stay whole", .timeLimit(.minutes(1)))
    func end() throws {
        let (input, output) = try makePipe()
        let writer = LineWriter(output) { "dropped \($0)\n" }
        let lines = (0..<3_000).map { "\($0) " + String(repeating: "x", count: $0 % 613) + "\n" }
        let expected = Array(lines.joined().utf8)
        #expect(expected.count > 3 * LineWriter.capacity)
        let isRight = Atomic<Bool>(false)
        let reader = Thread {
            var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
            while text.count < expected.count {
                guard case .bytes(let count) = buffer.withUnsafeMutableBytes({ Bytes.read(input, into: $0) }) else {
                    break
                }
                text += buffer[..<count]
            }
            isRight.store(text == expected, ordering: .relaxed)
        }
        for (number, line) in lines.enumerated() {
            if number % 100 == 0 { writer.flush(milliseconds: 30_000) }
            writer.write(line)
        }
        reader.join()
        let wasRight = isRight.load(ordering: .relaxed)
        #expect(wasRight)
        #expect(writer.dropped == 0)
    }

    @Test("B1: an unread pipe blocks no caller; lines that do not fit are dropped and counted", .timeLimit(.minutes(1)))
    func unread() throws {
        let (input, output) = try makePipe()
        let writer = LineWriter(output) { "dropped \($0)\n" }
        let line = String(repeating: "x", count: 999) + "\n"
        for _ in 0..<2_000 { writer.write(line) }
        #expect(writer.dropped > 1_000)
        writer.flush(milliseconds: 1)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // A note comes behind the lines before it; lines that are kept after the last dropped one come behind that.
        func noted() -> Int {
            text.split(separator: 0x0A).filter { $0.starts(with: "dropped".utf8) }
                .reduce(0) { $0 + (Int(String(decoding: $1.dropFirst(8), as: UTF8.self)) ?? 0) }
        }
        func kept() -> Int { text.split(separator: 0x0A).count { $0.count == 999 } }
        while noted() < writer.dropped || kept() < 2_000 - writer.dropped {
            guard case .bytes(let count) = buffer.withUnsafeMutableBytes({ Bytes.read(input, into: $0) }) else {
                break
            }
            text += buffer[..<count]
        }
        #expect(noted() == writer.dropped)
        #expect(kept() == 2_000 - writer.dropped)
    }

    @Test("The number of dropped lines is written though no line follows") func lastNote() throws {
        let (input, output) = try makePipe()
        let writer = LineWriter(output) { "dropped \($0)\n" }
        writer.write(String(repeating: "x", count: LineWriter.capacity) + "\n")
        #expect(writer.dropped == 1)
        #expect(MonotonicTime.read().advanced(milliseconds: 30_000).waitForInput(input))
        var bytes = [UInt8](repeating: 0, count: 100)
        guard case .bytes(let count) = bytes.withUnsafeMutableBytes({ Bytes.read(input, into: $0) }) else {
            Issue.record("nothing was written")
            return
        }
        #expect(String(decoding: bytes[..<count], as: UTF8.self) == "dropped 1\n")
    }
}
