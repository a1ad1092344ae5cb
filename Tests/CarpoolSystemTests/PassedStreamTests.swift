import Glibc
import Testing

@testable import CarpoolSystem

@Suite(.timeLimit(.minutes(1))) struct PassedStreamTests {
    // O_DIRECT, which does not reach Swift.
    #if arch(x86_64)
        private static let packetMode: Int32 = 0o40000
    #else
        private static let packetMode: Int32 = 0o200000
    #endif

    private static func read(_ stream: PassedStream, atMost count: Int = 100_000) -> (result: IOResult, bytes: [UInt8])
    {
        var room = [UInt8](repeating: 0, count: count)
        let result = room.withUnsafeMutableBytes { stream.read(into: $0) }
        guard case .bytes(let count) = result else { return (result, []) }
        return (result, Array(room[..<count]))
    }

    private static func put(_ bytes: [UInt8], to raw: Int32) throws {
        try bytes.withUnsafeBytes { try Bytes.writeAll(raw, $0) }
    }

    private static func stream(_ raw: Int32, isSocket: Bool) -> PassedStream {
        PassedStream(WorkerFile(FileDescriptor(owning: raw), closer: nil), isSocket: isSocket)
    }

    @Test("a6: a pipe is read without waiting, to what is there")
    func pipes() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let write = FileDescriptor(owning: ends[1])
        let stream = Self.stream(ends[0], isSocket: false)
        #expect(Self.read(stream).result == .wouldBlock)
        try Self.put([UInt8](repeating: 7, count: 50_000), to: write.raw)
        #expect(Self.read(stream, atMost: 5).bytes == [7, 7, 7, 7, 7])
        #expect(Self.read(stream).bytes.count == 49_995)
        #expect(Self.read(stream).result == .wouldBlock)
        try Self.put([8], to: write.raw)
        _ = consume write
        #expect(Self.read(stream).bytes == [8])
        #expect(Self.read(stream).result == .endOfFile)
    }

    @Test("Packets of a pipe are never cut", arguments: [4_096, 10_000, 65_536])
    func packets(_ room: Int) throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let write = FileDescriptor(owning: ends[1])
        #expect(fcntl(write.raw, F_SETFL, O_WRONLY | Self.packetMode) == 0)
        let stream = Self.stream(ends[0], isSocket: false)
        var found: [UInt8] = []
        for number in UInt8(0)..<10 { try Self.put([UInt8](repeating: number, count: 4_000), to: write.raw) }
        while found.count < 40_000 {
            let (result, bytes) = Self.read(stream, atMost: room)
            guard case .bytes = result else { break }
            found += bytes
        }
        #expect(found == (UInt8(0)..<10).flatMap { [UInt8](repeating: $0, count: 4_000) })
    }

    @Test(
        "b1: descriptors that come with a socket's bytes are closed, those with urgent bytes too",
        arguments: [false, true])
    func closesWhatComes(_ isUrgent: Bool) throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let write = FileDescriptor(owning: ends[1])
        let stream = Self.stream(ends[0], isSocket: true)
        #expect(Self.read(stream).result == .wouldBlock)
        var passed: [Int32] = [-1, -1]
        #expect(pipe(&passed) == 0)
        let reader = FileDescriptor(owning: passed[0])
        try Self.put(Array("hell".utf8), to: write.raw)
        let sent = Array("o".utf8).withUnsafeBytes { Bytes.send(write.raw, $0, passing: passed[1]) }
        #expect(sent == .bytes(1))
        if isUrgent { #expect(send(write.raw, "!", 1, Int32(MSG_OOB)) == 1) }
        close(passed[1])
        var found: [UInt8] = []
        while case let piece = Self.read(stream), case .bytes = piece.result { found += piece.bytes }
        #expect(String(decoding: found, as: UTF8.self) == "hello")
        // The last writer has closed.
        var byte: UInt8 = 0
        #expect(Glibc.read(reader.raw, &byte, 1) == 0)
    }
}
