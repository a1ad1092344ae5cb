import CarpoolSystem
import Testing

@testable import CarpoolServer

@Suite("Waits for a disk")
struct DiskWaitTests {
    private final class Waiting {}

    /// Begins a wait; returns what only the wait keeps in memory, as long as it does.
    private func begin(
        _ stage: Stage, milliseconds: Int, _ work: (@escaping () -> Void) -> Void
    ) -> () -> Waiting? {
        let waiting = Waiting()
        stage.server.requests.wait(within: milliseconds, for: work) { withExtendedLifetime(waiting) {} }
        return { [weak waiting] in waiting }
    }

    @Test("A wait that the disk ends keeps nothing in memory")
    func ended() throws {
        let stage = try Stage()
        var end: (() -> Void)?
        let kept = begin(stage, milliseconds: 60_000) { end = $0 }
        #expect(kept() != nil)
        end?()
        end = nil
        #expect(kept() == nil)
    }

    @Test("A wait that takes too long keeps nothing in memory")
    func late() throws {
        let stage = try Stage()
        let kept = begin(stage, milliseconds: 1) { _ in }
        #expect(kept() != nil)
        var isOver = false
        stage.loop.arm(Timer { isOver = true }, afterMilliseconds: 2_000)
        stage.run { kept() == nil || isOver }
        #expect(kept() == nil)
    }
}
