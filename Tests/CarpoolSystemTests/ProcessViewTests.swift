import Glibc
import Testing

@testable import CarpoolSystem

struct ProcessViewTests {
    private static func text(_ groups: String, capabilities: String = "0000000000000000") -> [UInt8] {
        Array(
            """
            Name:\ta ) b
            Pid:\t7
            Uid:\t1\t2\t3\t4
            Gid:\t10\t11\t12\t13
            Groups:\t\(groups)
            CapEff:\t\(capabilities)

            """.utf8)
    }

    @Test("A4: groups are a set, with that by which files are opened")
    func groups() throws {
        let status = try #require(ProcessStatus(text: Self.text("20 13 20 ")))
        #expect((status.pid, status.user, status.groups) == (7, [2, 4], [13, 20]))
        #expect(ProcessStatus(text: Self.text("")) == ProcessStatus(text: Self.text("13")))
        #expect(ProcessStatus(text: Self.text("20")) != ProcessStatus(text: Self.text("21")))
    }

    @Test("A4: what cannot be read is no view", arguments: ["", "Pid:\t1\n", "Groups:\tx\n"])
    func unreadable(_ text: String) {
        #expect(ProcessStatus(text: Array(text.utf8)) == nil)
        #expect(ProcessView(folder: "/proc/none") == nil)
    }

    @Test(
        "A4: numbers that are none, or too large", arguments: ["x", "1a", "-1", "4294967296", "18446744073709551616"])
    func wrongNumbers(_ number: String) {
        #expect(ProcessStatus(text: Self.text("20 \(number)")) == nil)
        #expect(ProcessStatus(text: Self.text("20", capabilities: "g\(number)")) == nil)
    }

    @Test func capabilities() throws {
        let status = try #require(ProcessStatus(text: Self.text("20", capabilities: "000001ffffffffff")))
        #expect(status.capabilities == 0x1ff_ffff_ffff)
    }

    @Test("A4, B2: a process with very many groups is not known", arguments: [(1_000, true), (60_000, false)])
    func many(_ count: Int, _ isKnown: Bool) throws {
        let directory = TemporaryDirectory()
        let path = directory("status")
        let groups = (0..<count).map { String(100_000 + $0) }.joined(separator: " ")
        let file = try FileDescriptor.open(path, O_CREAT | O_WRONLY, mode: 0o600)
        try Self.text(groups).withUnsafeBytes { try Bytes.writeAll(file.raw, $0) }
        #expect((ProcessStatus(path: directory("status")) != nil) == isKnown)
    }

    @Test("A4: a process that began after the connection is another one")
    func beginnings() {
        let stat = Array("7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 250 20 21\n".utf8)
        #expect(ProcessStatus.start(stat: stat, ticksPerSecond: 100) == 2_500_000_000)
        #expect(ProcessStatus.start(stat: Array("7 (a".utf8), ticksPerSecond: 100) == nil)
        #expect(ProcessStatus.start(of: getpid()) ?? .max <= MonotonicTime.uptime())
    }

    @Test("A4: a process sees what it sees itself; a peer that has ended is not looked at")
    func peers() throws {
        let own = try #require(ProcessView.own())
        #expect(own.difference(from: own) == nil)
        #expect(own.sandboxDifference(of: own) == nil)
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let me = try PeerCredentials(of: ends[0])
        let view = try #require(ProcessView.ofPeer(at: ends[0], me, connectedBefore: MonotonicTime.uptime()))
        #expect(own.difference(from: view) == nil)
        let hidden = PeerCredentials(uid: me.uid, gid: me.gid, pid: 0)
        #expect(ProcessView.ofPeer(at: ends[0], hidden, connectedBefore: .max) == nil)
    }
}
