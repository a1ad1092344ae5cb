import CarpoolRPC
import CarpoolJSON
@testable import CarpoolServer
import CarpoolSystem
import Glibc
import Testing

/// The far end of a connection, whose near end a test wakes up by hand.
final class Peer {
    let connection: Connection
    private let stage: Stage
    private var fd: Int32
    private let near: Int32

    init(_ stage: Stage, role: Role = .admin, uid: UInt32 = 1_000) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        (near, fd) = (ends[0], ends[1])
        self.stage = stage
        let number = (stage.server.connections.keys.max() ?? 0) + 1
        connection = Connection(
            number: number, fd: FileDescriptor(owning: ends[0]),
            credentials: PeerCredentials(uid: uid, gid: uid, pid: getpid()),
            identity: ClientIdentity(uid: uid, name: .session(4711)), role: role, ticket: nil,
            services: stage.server.connections.services, owner: stage.server.connections)
        stage.server.connections[number] = connection
    }

    deinit {
        if fd >= 0 { close(fd) }
        connection.close()
    }

    /// Sends text, and lets the connection handle it unless `turn` is false.
    func write(_ text: String, turn: Bool = true) {
        var text = text
        text.withUTF8 { _ = send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard turn else { return }
        becomeReadable()
        endTurn()
    }

    func becomeReadable() { connection.descriptorIsReady(near, .readable) }
    func becomeWritable() { connection.descriptorIsReady(near, .writable) }

    /// Ends the turn, and the turns that follow until everything that has come is handled.
    func endTurn() {
        connection.turnDidEnd()
        while connection.isScheduled, connection.runSlice() {}
        connection.turnDidEnd()
    }

    func shutdownWriting(turn: Bool = true) {
        shutdown(fd, Int32(SHUT_WR))
        guard turn else { return }
        becomeReadable()
        endTurn()
    }

    /// Disconnects without a half-close.
    func disconnect() {
        close(fd)
        fd = -1
        connection.descriptorIsReady(near, [.readable, .failed])
        endTurn()
    }

    /// The bytes that have come.
    func read() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case .bytes(let count) = buffer.withUnsafeMutableBytes({ Bytes.read(fd, into: $0) }) {
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// Whether all is read and the other side has closed.
    func readsEndOfFile() -> Bool {
        var byte: UInt8 = 0
        return recv(fd, &byte, 1, 0) == 0
    }

    /// How the other side has closed: a reset says that it has not read all.
    enum Ending { case none, end, reset }
    private var known = Ending.none

    /// How the other side has closed. The kernel reports a reset once.
    func ending() -> Ending {
        guard known == .none else { return known }
        var byte: UInt8 = 0
        let count = recv(fd, &byte, 1, 0)
        known = count == 0 ? .end : count < 0 && errno == ECONNRESET ? .reset : .none
        return known
    }

    private var rest: [UInt8] = []

    /// The lines that have come whole, parsed.
    func answers() throws -> [JSON] {
        connection.turnDidEnd()
        rest += read()
        var lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false)
        rest = lines.popLast().map(Array.init) ?? []
        return try lines.map { try JSON.parse(Array($0)) }
    }
}
