@testable import CarpoolSystem
import Glibc
import Testing

struct EpollSetTests {
    @Test("A refused registration is remembered, and forgotten when it succeeds or nothing waits for it")
    func refusals() throws {
        var set = try EpollSet()
        defer { set.close() }
        let free: Int32 = 900_000
        // Not an open descriptor.
        let isRegistered = set.apply(.add(.readable), free, generation: 0)
        #expect(!isRegistered)
        #expect(set.refusedDescriptors == [free])
        set.forget(free)
        #expect(!set.hasRefused)
    }

    @Test("A descriptor that cannot be watched is not tried for ever")
    func bounded() throws {
        var set = try EpollSet()
        defer { set.close() }
        var tries = 0
        repeat {
            _ = set.apply(.add(.readable), 900_001, generation: 0)
            tries += 1
        } while set.hasRefused && tries < 1_000
        #expect(tries < 100)
    }

    @Test("What the table thinks registered is registered again after a refusal")
    func table() {
        final class Handler: ReadinessHandler { func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {} }
        var table = InterestTable()
        #expect(table.want(.readable, fd: 5, handler: Handler()) == .add(.readable))
        #expect(table.registration(fd: 5) == nil)
        table.registrationWasRefused(fd: 5)
        #expect(table.registration(fd: 5) == .add(.readable))
        #expect(table.registration(fd: 5) == nil)
        table.registrationWasRefused(fd: 5)
        _ = table.forget(fd: 5)
        #expect(table.registration(fd: 5) == nil, "nothing waits for it any more")
    }
}
