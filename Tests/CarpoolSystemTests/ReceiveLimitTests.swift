import CarpoolSystem
import Glibc
import Testing

struct ReceiveLimitTests {
    @Test("B2: reading ends a while after its first call, until the limit is lifted")
    func ends() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        try #require(write(ends[0], "four", 4) == 4)
        var byte: UInt8 = 0
        ReceiveLimit.begin(microseconds: 2_000)
        defer { ReceiveLimit.end() }
        #expect(recv(ends[1], &byte, 1, 0) == 1)
        let slice = TimeSlice(microseconds: 3_000)
        while !slice.isOver {}
        #expect(recv(ends[1], &byte, 1, 0) == -1)
        #expect(errno == EAGAIN)
        #expect(recv(ends[1], &byte, 1, Int32(MSG_PEEK)) == 1)
        ReceiveLimit.begin(microseconds: 2_000)
        #expect(recv(ends[1], &byte, 1, 0) == 1)
        ReceiveLimit.end()
        #expect(recv(ends[1], &byte, 1, 0) == 1)
        #expect(byte == UInt8(ascii: "u"))
    }
}
