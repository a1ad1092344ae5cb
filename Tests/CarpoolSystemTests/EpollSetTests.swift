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

    @Test("A descriptor that cannot be watched is not tried for ever, and its owner gets to know why")
    func bounded() throws {
        var set = try EpollSet()
        defer { set.close() }
        var tries = 0
        var code: Int32?
        repeat {
            _ = set.apply(.add(.readable), 900_001, generation: 0)
            code = set.lastingRefusal(of: 900_001)
            tries += 1
        } while code == nil && tries < 1_000
        #expect(tries < 100)
        #expect(code == EBADF)
        #expect(!set.hasRefused)
    }

    @Test("A descriptor whose handler has met a shortage is registered again later, and not reported before")
    func suspended() throws {
        var set = try EpollSet()
        let (reader, writer) = try FileDescriptor.pipe()
        defer {
            set.close()
            close(reader)
            close(writer)
        }
        var isRegistered = set.apply(.add(.readable), reader, generation: 0)
        #expect(isRegistered)
        #expect(write(writer, "x", 1) == 1)
        var ready = pollfd(fd: set.raw, events: Int16(POLLIN), revents: 0)
        #expect(poll(&ready, 1, 0) == 1)
        set.suspend(reader)
        #expect(poll(&ready, 1, 0) == 0)
        #expect(set.refusedDescriptors == [reader])
        let code = set.lastingRefusal(of: reader)
        #expect(code == nil)
        isRegistered = set.apply(.add(.readable), reader, generation: 0)
        #expect(isRegistered)
        #expect(poll(&ready, 1, 0) == 1)
        #expect(!set.hasRefused)
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
