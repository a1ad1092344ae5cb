@testable import CarpoolSystem
import Testing

struct InterestTableTests {
    private final class Handler: ReadinessHandler {
        func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {}
    }

    private let handler = Handler()

    @Test func losingAndRegainingInterestCostsNothing() {
        var table = InterestTable()
        #expect(table.want(.readable, fd: 7, handler: handler) == .add(.readable))
        #expect(table.want([], fd: 7, handler: handler) == InterestChange.none)
        #expect(table.want(.readable, fd: 7, handler: handler) == InterestChange.none)
        #expect(table.want([.readable, .writable], fd: 7, handler: handler) == .modify([.readable, .writable]))
    }

    @Test func anEventThatNobodyWantsEndsTheRegistration() {
        var table = InterestTable()
        _ = table.want(.readable, fd: 3, handler: handler)
        _ = table.want([], fd: 3, handler: handler)
        let event = table.event(fd: 3, generation: table.generation(fd: 3))
        #expect(event.handler === handler)
        #expect(event.change == .remove)
        #expect(table.want(.readable, fd: 3, handler: handler) == .add(.readable))
    }

    @Test func anEventOfAnEarlierFileOfTheSameNumberIsStale() {
        var table = InterestTable()
        _ = table.want(.readable, fd: 3, handler: handler)
        let former = table.generation(fd: 3)
        #expect(table.forget(fd: 3) == .remove)
        #expect(table.want(.readable, fd: 3, handler: handler) == .add(.readable))
        #expect(table.event(fd: 3, generation: former).handler == nil)
        #expect(table.event(fd: 3, generation: table.generation(fd: 3)).handler === handler)
    }

    @Test func numbersThatCannotBeDescriptorsAreRefused() {
        var table = InterestTable()
        #expect(table.want(.readable, fd: -1, handler: handler) == nil)
        #expect(table.want(.readable, fd: 1 << 20, handler: handler) == nil)
        #expect(table.forget(fd: -1) == .none)
        #expect(table.forget(fd: 99) == .none)
    }
}
