import Glibc
import Testing

@testable import CarpoolSystem

@Suite(.timeLimit(.minutes(1))) struct PipeRoomTests {
    /// How many bytes a pipe takes that nobody reads.
    private func room(_ enlarge: (Int32) -> Void) throws -> Int {
        let ends = try FileDescriptor.pipe()
        let read = FileDescriptor(owning: ends.read)
        let write = FileDescriptor(owning: ends.write)
        _ = fcntl(write.raw, F_SETFL, O_NONBLOCK)
        enlarge(write.raw)
        var count = 0
        let piece = [UInt8](repeating: 1, count: 4_096)
        while case .bytes(let written) = piece.withUnsafeBytes({ Bytes.write(write.raw, $0) }) { count += written }
        _ = consume read
        return count
    }

    @Test("A pipe gets more room, and never less")
    func enlarges() throws {
        let usual = try room { _ in }
        #expect(try room { PipeRoom.enlarge($0, to: PipeRoom.ofOthers) } == max(usual, Int(PipeRoom.ofOthers)))
        let twice: (Int32) -> Void = {
            PipeRoom.enlarge($0, to: PipeRoom.ofOthers)
            PipeRoom.enlarge($0, to: 4_096)
        }
        #expect(try room(twice) == max(usual, Int(PipeRoom.ofOthers)))
    }

    @Test("Nothing happens to another descriptor, or with more than the kernel gives")
    func refuses() throws {
        let usual = try room { _ in }
        #expect(try room { PipeRoom.enlarge($0, to: .max) } >= usual)
        PipeRoom.enlarge(-1, to: PipeRoom.ofOthers)
        let file = try FileDescriptor.open("/dev/null", O_WRONLY)
        PipeRoom.enlarge(file.raw, to: PipeRoom.ofOthers)
    }
}
