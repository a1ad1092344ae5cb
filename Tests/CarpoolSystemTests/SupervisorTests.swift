@testable import CarpoolSystem
import Glibc
import Testing

struct SupervisorTests {
    private let directory = TemporaryDirectory()

    @Test func variablesForAnotherProcessAreNotOurs() {
        let variables = ["LISTEN_FDS": "1", "LISTEN_PID": "12", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "12"]
        let ours = Supervisor(environment: Environment(variables), pid: 12)
        #expect(ours.socketCount == 1)
        #expect(ours.watchdogMilliseconds == 2_000)
        let others = Supervisor(environment: Environment(variables), pid: 13)
        #expect(others.socketCount == 0)
        #expect(others.watchdogMilliseconds == nil)
    }

    @Test(arguments: [("-1", 0), ("x", 0), ("", 0), ("999999999", 16), ("2", 2)])
    func countsAreBounded(_ text: String, _ count: Int) {
        let manager = Supervisor(environment: Environment(["LISTEN_FDS": text, "LISTEN_PID": "1"]), pid: 1)
        #expect(manager.socketCount == count)
    }

    @Test func notificationsReachAPathAndAnAbstractName() throws {
        for name in [directory("notify"), "@carpool-test-\(getpid())"] {
            let manager = Supervisor(environment: Environment(["NOTIFY_SOCKET": name]), pid: 1)
            #expect(!manager.notify(.ready))
            let receiver = try receiver(at: name)
            #expect(manager.notify(.ready))
            #expect(manager.notify(.status("two\nlines")))
            #expect(read(receiver.raw) == "READY=1")
            #expect(read(receiver.raw) == "STATUS=two lines")
        }
    }

    @Test func reloadingCarriesTheTimeThatSystemdAsksFor() {
        let text = SupervisorNotification.reloading.text(at: MonotonicTime(nanoseconds: 5_000))
        #expect(text == "RELOADING=1\nMONOTONIC_USEC=5")
    }

    @Test func withoutASupervisorNothingHappens() {
        let manager = Supervisor(environment: Environment([:]), pid: 1)
        #expect(!manager.notify(.stopping))
        guard case .none = manager.takeListener() else {
            Issue.record("a listener was made up")
            return
        }
    }

    @Test func theFirstListenerIsTakenAndTheRestClosed() throws {
        // Above every number that other tests of this process may be given meanwhile.
        let first: Int32 = 900
        let listener = try UnixSocket.listen(at: directory("s"))
        let file = try FileDescriptor.open("/dev/null", O_RDONLY)
        #expect(dup2(file.raw, first) == first)
        #expect(dup2(listener.raw, first + 1) == first + 1)
        #expect(dup2(listener.raw, first + 2) == first + 2)
        let manager = Supervisor(environment: Environment(["LISTEN_FDS": "3", "LISTEN_PID": "1"]), pid: 1)
        let taken = manager.takeListener(from: first)
        switch taken {
        case .some(let descriptor): #expect(UnixSocket.boundPath(of: descriptor.raw) == directory("s"))
        case .none: Issue.record("no listener was taken")
        }
        #expect(fcntl(first, F_GETFD) == -1)
        #expect(fcntl(first + 1, F_GETFD) == FD_CLOEXEC)
        #expect(fcntl(first + 2, F_GETFD) == -1)
    }

    private func receiver(at name: String) throws -> FileDescriptor {
        let descriptor = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
        guard let address = UnixAddress(service: name), address.withPointer({ bind(descriptor.raw, $0, $1) }) == 0
        else {
            throw SystemError.last("bind")
        }
        return descriptor
    }

    private func read(_ fd: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = recv(fd, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
