@testable import CarpoolSystem
import Glibc
import Testing

struct UnixSocketTests {
    private let directory = TemporaryDirectory()

    @Test func aListenerIsPrivateAndSaysWhoCalls() throws {
        let path = directory("s")
        let listener = try UnixSocket.listen(at: path)
        #expect(mode(of: path) == 0o600)
        #expect(UnixSocket.boundPath(of: listener.raw) == path)
        guard case .wouldBlock = UnixSocket.accept(listener.raw) else {
            throw SystemError(code: 0, operation: "accept")
        }
        let client = try UnixSocket.connect(to: path)
        guard case .accepted(let peer) = UnixSocket.accept(listener.raw) else { throw SystemError.last("accept") }
        let expected = PeerCredentials(uid: geteuid(), gid: getegid(), pid: getpid())
        #expect(try PeerCredentials(of: peer.raw) == expected)
        #expect(try PeerCredentials(of: client.raw) == expected)
    }

    @Test func aListenerForEverybodyHasTheModeFromTheStart() throws {
        _ = try UnixSocket.listen(at: directory("s"), for: .everyone)
        #expect(mode(of: directory("s")) == 0o666)
    }

    @Test func halfClosingLetsThePeerReadTheEnd() throws {
        let listener = try UnixSocket.listen(at: directory("s"))
        let client = try UnixSocket.connect(to: directory("s"))
        guard case .accepted(let peer) = UnixSocket.accept(listener.raw) else { throw SystemError.last("accept") }
        #expect(Array("hi".utf8).withUnsafeBytes { Bytes.send(client.raw, $0) } == .bytes(2))
        UnixSocket.shutdownWriting(client.raw)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(buffer.withUnsafeMutableBytes { Bytes.read(peer.raw, into: $0) } == .bytes(2))
        #expect(buffer.withUnsafeMutableBytes { Bytes.read(peer.raw, into: $0) } == .endOfFile)
    }

    @Test func b1ASocketThatIsShutDownSaysWhetherDescriptorsHaveCome() throws {
        let listener = try UnixSocket.listen(at: directory("s"))
        let null = try FileDescriptor.open("/dev/null", O_RDONLY)
        let text = Array(repeating: UInt8(ascii: "x"), count: 40)
        for (passes, expected) in [([], false), ([false], false), ([true], true), ([false, false, true, false], true)] {
            let client = try UnixSocket.connect(to: directory("s"))
            guard case .accepted(let peer) = UnixSocket.accept(listener.raw) else { throw SystemError.last("accept") }
            for passes in passes {
                let sent = text.withUnsafeBytes {
                    passes ? Bytes.send(client.raw, $0, passing: null.raw) : Bytes.send(client.raw, $0)
                }
                #expect(sent == .bytes(text.count))
            }
            // The last case takes several reads.
            var buffer = [UInt8](repeating: 0, count: 16)
            let raw = peer.raw
            #expect(buffer.withUnsafeMutableBytes { UnixSocket.shutDown(raw, reading: $0) } == expected)
        }
    }

    @Test func theErrorTellsWhyNobodyAnswers() throws {
        let missing = #expect(throws: SystemError.self) { _ = try UnixSocket.connect(to: directory("none")) }
        #expect(missing?.code == ENOENT)
        _ = try UnixSocket.listen(at: directory("dead"))
        let refused = #expect(throws: SystemError.self) { _ = try UnixSocket.connect(to: directory("dead")) }
        #expect(refused?.code == ECONNREFUSED)
    }

    @Test func aPathThatIsTooLongIsNamedWithItsLength() throws {
        let path = "/tmp/" + String(repeating: "p", count: 103)
        let error = #expect(throws: SystemError.self) { _ = try UnixSocket.listen(at: path) }
        let text = error.map(String.init(describing:)) ?? ""
        #expect(text.contains(path) && text.contains("108 bytes") && text.contains("$CARPOOL_SOCKET"))
        #expect(throws: SystemError.self) { _ = try UnixSocket.connect(to: path) }
    }

    @Test func anExistingFileIsNotReplaced() throws {
        _ = try FileDescriptor.open(directory("s"), O_CREAT | O_WRONLY, mode: 0o600)
        let error = #expect(throws: SystemError.self) { _ = try UnixSocket.listen(at: directory("s")) }
        #expect(error?.code == EADDRINUSE)
    }
}
