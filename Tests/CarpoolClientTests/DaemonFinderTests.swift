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

    /// What a daemon may do at its start, as a shell script in its place. One at a time: a script that is still open for writing, in a
    /// process that was just forked for another, cannot be run.
    @Test(
        .serialized,
        arguments: [
            ("echo ready >&3", nil), ("echo 'no room' >&3", "no room"),
            ("echo 'cannot load' >&2; exit 127", "cannot load"),
            ("exit 3", "it ended with exit code 3 and said nothing"),
            ("echo \"$CARPOOL_STATUS_FD $# $PWD\" >&3", "3 2 /"),
            ("readlink /proc/$$/fd/0 >&3", "/dev/null"),
        ] as [(String, String?)])
    func theLauncherTellsWhatTheDaemonSaid(_ script: String, _ reason: String?) throws {
        let place = try FakeDaemon([])
        let program = "\(place.folder)/carpoold"
        let homes = Directories(environment: Environment(["XDG_STATE_HOME": place.folder]), uid: geteuid())
        defer {
            unlink(program)
            unlink(homes.log)
            rmdir(homes.state)
        }
        try write("#!/bin/sh\n\(script)\n", to: program)
        let launcher = DaemonLauncher(location: place.location, program: program, homes: homes)
        #expect(try launcher.launch(deadline: MonotonicTime.read().advanced(milliseconds: 10_000)) == reason)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode: 0o700)
        try BlockingOutput(borrowing: file.raw).write(Array(text.utf8))
    }

    @Test func onlyWhatTheDaemonNeedsIsInherited() {
        for name in ["HOME", "PATH", "XDG_STATE_HOME", "LC_ALL", "CARPOOL_SOCKET", "LD_LIBRARY_PATH"] {
            #expect(DaemonLauncher.isInherited(name[...]))
        }
        for name in ["http_proxy", "AWS_SECRET_ACCESS_KEY", "NOTIFY_SOCKET", "LISTEN_FDS", "CARPOOL_STATUS_FD", ""] {
            #expect(!DaemonLauncher.isInherited(name[...]))
        }
    }
}
