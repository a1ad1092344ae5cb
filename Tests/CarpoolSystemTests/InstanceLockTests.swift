@testable import CarpoolSystem
import Glibc
import Testing

struct InstanceLockTests {
    private let directory = TemporaryDirectory()

    private func acquire() throws -> InstanceLock {
        switch try InstanceLock.acquire(at: directory("lock"), socketPath: directory("s")) {
        case .acquired(let lock): return lock
        case .held: throw SystemError(code: EWOULDBLOCK, operation: "flock")
        }
    }

    @Test func theHolderIsToldToWhoeverComesLater() throws {
        #expect(try InstanceLock.state(at: directory("lock")) == .free)
        let lock = try acquire()
        let holder = LockHolder(pid: getpid(), socketPath: directory("s"))
        #expect(try InstanceLock.state(at: directory("lock")) == .held(holder))
        switch try InstanceLock.acquire(at: directory("lock"), socketPath: "/elsewhere") {
        case .acquired: Issue.record("the lock was given twice")
        case .held(let told): #expect(told == holder)
        }
        #expect(mode(of: directory("lock")) == 0o600)
        try lock.removeStaleSocket()
    }

    @Test func itIsFreeAgainWhenItsHolderEnds() throws {
        do { _ = try acquire() }
        #expect(try InstanceLock.state(at: directory("lock")) == .free)
        _ = try acquire()
    }

    @Test func aHolderThatHasNotWrittenItsNameYetIsUnknown() throws {
        let file = try FileDescriptor.open(directory("lock"), O_CREAT | O_RDWR, mode: 0o600)
        #expect(flock(file.raw, LOCK_EX) == 0)
        #expect(try InstanceLock.state(at: directory("lock")) == .held(nil))
        guard case .held(nil) = try InstanceLock.acquire(at: directory("lock"), socketPath: "/s") else {
            Issue.record("the lock was given twice")
            return
        }
    }

    @Test(arguments: ["", "12", "12\n", "x\n/s\n", "-1\n/s\n", "12\n/s"])
    func halfWrittenTextNamesNobody(_ text: String) {
        #expect(LockHolder(text: Array(text.utf8)) == nil)
    }

    @Test func textIsReadBack() {
        let holder = LockHolder(pid: 12, socketPath: "/a b/s")
        #expect(LockHolder(text: Array(holder.text.utf8)) == holder)
    }

    @Test func aLinkInPlaceOfTheLockIsRefused() throws {
        symlink("/tmp/elsewhere", directory("lock"))
        #expect(throws: SystemError.self) { _ = try self.acquire() }
    }

    @Test func onlyADeadSocketIsRemoved() throws {
        let lock = try acquire()
        try lock.removeStaleSocket()
        do {
            let listener = try UnixSocket.listen(at: directory("s"))
            let busy = #expect(throws: SystemError.self) { try lock.removeStaleSocket() }
            #expect(busy?.code == EADDRINUSE)
            _ = listener.raw
        }
        try lock.removeStaleSocket()
        #expect(mode(of: directory("s")) == nil)
        _ = try FileDescriptor.open(directory("s"), O_CREAT | O_WRONLY, mode: 0o600)
        let other = #expect(throws: SystemError.self) { try lock.removeStaleSocket() }
        #expect(other?.code == EEXIST)
    }
}
