import CarpoolSystem
import Testing

@testable import CarpoolCLI

@Suite("The daemon that may be ended")
struct StopTargetTests {
    @Test("It is the one that the lock names, or one without a lock here")
    func comparesTheProcesses() {
        let holder = LockHolder(pid: 12, socketPath: "/s")
        #expect(StopTarget(.held(holder), reported: 12) == .confirmed)
        #expect(StopTarget(.held(holder), reported: 13) == .other(pid: 12))
        #expect(StopTarget(.held(nil), reported: 12) == .changing)
        #expect(StopTarget(.free, reported: 12) == .unlocked)
    }
}
