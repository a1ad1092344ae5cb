@testable import CarpoolServer
import Testing

struct ReloadQueueTests {
    @Test("Reloads run one after the other, in order; too many are refused")
    func order() {
        let queue = ReloadQueue()
        var started: [Int] = []
        let taken = (0..<20).map { number in queue.add { started.append(number) } }
        #expect(taken.filter(\.self).count == ReloadQueue.limit + 1)
        #expect(started == [0])
        for _ in 0..<30 { queue.didEnd() }
        #expect(started == Array(0...ReloadQueue.limit))
        #expect(queue.add { started.append(99) })
        #expect(started.last == 99)
    }
}
