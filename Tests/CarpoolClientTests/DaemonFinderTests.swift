import CarpoolSystem
import Glibc
import Testing

@testable import CarpoolClient

struct DaemonFinderTests {
    @Test func aSocketThatWasNamedGetsNoDaemonUnasked() {
        let location = SocketLocation.resolve(option: "/tmp/carpool-test-none/s")
        let error = #expect(throws: ClientError.self) { _ = try DaemonFinder(location: location).connect() }
        guard case .unreachable(let path, _, let hint?) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path == location.path)
        #expect(hint.contains("carpool daemon start --socket \(path)"))
    }

    @Test func theLockSaysWhereTheDaemonIs() throws {
        let daemon = try FakeDaemon([.leave])
        let place = try FakeDaemon([])
        unlink(place.socketPath)
        let acquisition = try InstanceLock.acquire(at: place.location.lockPath, socketPath: daemon.socketPath)
        guard case .acquired(let lock) = acquisition else {
            Issue.record("the lock is taken")
            return
        }
        let socket = try DaemonFinder(location: place.location).connect()
        UnixSocket.shutdownWriting(socket.raw)
        withExtendedLifetime(lock) {}
    }

    @Test func aPathThatIsTooLongIsTold() {
        let location = SocketLocation.resolve(option: "/tmp/" + String(repeating: "x", count: 200))
        let error = #expect(throws: ClientError.self) { _ = try DaemonFinder(location: location).connect() }
        guard case .unreachable(_, _, let hint?) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(hint.contains("205 bytes"))
    }

    @Test(
        arguments: [
            ("ready", nil), ("reason", "no room"), ("log", "cannot load"),
            ("silent", "it exited with code 3 and without a message"), ("surroundings", "3 --socket / /dev/null"),
        ] as [(String, String?)])
    func theLauncherTellsWhatTheDaemonSaid(_ way: String, _ reason: String?) throws {
        let place = try FakeDaemon([])
        let homes = Directories(environment: Environment(["XDG_STATE_HOME": place.folder]), uid: geteuid())
        defer {
            unlink(homes.log)
            rmdir(homes.state)
        }
        let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let launcher = DaemonLauncher(
            location: SocketLocation.resolve(option: "\(place.folder)/\(way)"),
            program: "/\(tests)/Support/starting-daemon", homes: homes)
        #expect(try launcher.launch(deadline: MonotonicTime.read().advanced(milliseconds: 10_000)) == reason)
        if way == "ready" { try Self.reap("\(place.folder)/\(way).pid") }
    }

    /// Waits for a daemon that has written its process id: a child that nobody waits for makes tests that watch
    /// processes (`processExitsWith`) wait for ever.
    private static func reap(_ file: String) throws {
        defer { unlink(file) }
        let descriptor = try FileDescriptor.open(file, O_RDONLY)
        let text = String(decoding: try Bytes.readAll(descriptor.raw, atMost: 32, path: file), as: UTF8.self)
        let process = try #require(pid_t(text.dropLast()))
        #expect(waitpid(process, nil, 0) == process)
    }

    @Test func onlyWhatTheDaemonNeedsIsInherited() {
        for name in ["HOME", "XDG_STATE_HOME", "TZ", "CARPOOL_SOCKET", "LD_LIBRARY_PATH"] {
            #expect(DaemonLauncher.isInherited(name[...]))
        }
        let others = [
            "http_proxy", "AWS_SECRET_ACCESS_KEY", "NOTIFY_SOCKET", "LISTEN_FDS", "CARPOOL_STATUS_FD", "", "LANG",
            "LC_ALL",
            "PATH", "LD_PRELOAD", "OPENSSL_CONF",
        ]
        for name in others {
            #expect(!DaemonLauncher.isInherited(name[...]))
        }
    }
}
