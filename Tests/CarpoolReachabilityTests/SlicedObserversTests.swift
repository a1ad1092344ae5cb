import CarpoolSystem
import Testing

@testable import CarpoolReachability

struct SlicedObserversTests {
    private func manager(_ loop: EventLoop) -> NetworkReachabilityManager {
        var configuration = ReachabilityConfiguration()
        configuration.override = .unsatisfied
        return NetworkReachabilityManager(loop: loop, configuration: configuration)
    }

    private func set(_ status: ReachabilityStatus, _ manager: NetworkReachabilityManager) {
        var configuration = manager.configuration
        configuration.override = status
        manager.reconfigure(configuration)
    }

    private func runOnce(_ loop: EventLoop) {
        let end = Timer { loop.stop() }
        loop.arm(end, afterMilliseconds: 1)
        loop.run()
    }

    @Test("B2: an observer gets several changes as one, from the state that it had last")
    func mergesChanges() throws {
        let loop = try EventLoop()
        let manager = manager(loop)
        var changes: [ReachabilityChange] = []
        var looks = 0
        let observation = manager.observe(isSliced: true, { changes.append($0) }, onEvaluation: { looks += 1 })
        set(.satisfied, manager)
        set(.requiresConnection, manager)
        #expect(changes.isEmpty && looks == 0)
        runOnce(loop)
        #expect(changes.map(\.previous.snapshot.status) == [.unsatisfied] && looks == 1)
        #expect(changes.map(\.current.snapshot.status) == [.requiresConnection])
        #expect(changes.first?.causes == .configuration)
        set(.satisfied, manager)
        set(.requiresConnection, manager)
        runOnce(loop)
        #expect(changes.count == 1 && looks == 2)
        withExtendedLifetime(observation) {}
    }

    @Test("B2: observers that are removed, and others that are added, while the first are called")
    func comingAndGoing() throws {
        let loop = try EventLoop()
        let manager = manager(loop)
        var observations: [NetworkReachabilityManager.Observation] = []
        var heard = 0
        var late: NetworkReachabilityManager.Observation?
        for _ in 0..<1_000 {
            observations.append(
                manager.observe(isSliced: true) { _ in
                    heard += 1
                    if late == nil { late = manager.observe(isSliced: true) { _ in heard += 1 } }
                    observations.removeLast()
                })
        }
        set(.satisfied, manager)
        runOnce(loop)
        while !observations.isEmpty, heard < 500 { runOnce(loop) }
        #expect(heard == 500 && observations.count == 500)
        set(.unsatisfied, manager)
        observations = []
        runOnce(loop)
        #expect(heard == 501)
    }
}
