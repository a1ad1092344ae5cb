@testable import CarpoolServer
import Testing

struct LifecycleTests {
    /// An event.
    enum Step: Sendable {
        case drain(active: Int)
        case stop(active: Int)
        case change(active: Int)
    }

    /// A lifecycle: the events, the expected actions, and the final state.
    struct Life: Sendable {
        let steps: [Step]
        let actions: [Lifecycle.Action]
        let state: Lifecycle.State
    }

    static let lives = [
        Life(steps: [.change(active: 0)], actions: [.none], state: .serving),
        Life(steps: [.drain(active: 0)], actions: [.close], state: .closing),
        Life(
            steps: [.drain(active: 2), .change(active: 1), .change(active: 0)],
            actions: [.drain(milliseconds: 7), .none, .close], state: .closing),
        Life(
            steps: [.drain(active: 2), .stop(active: 2)], actions: [.drain(milliseconds: 7), .cancel], state: .stopping),
        Life(
            steps: [.drain(active: 2), .drain(active: 2)], actions: [.drain(milliseconds: 7), .cancel], state: .stopping
        ),
        Life(
            steps: [.stop(active: 1), .change(active: 1), .change(active: 0), .change(active: 0)],
            actions: [.cancel, .none, .close, .none], state: .closing),
        Life(steps: [.stop(active: 0), .stop(active: 0)], actions: [.close, .none], state: .closing),
        Life(
            steps: [.stop(active: 1), .drain(active: 1), .stop(active: 1)], actions: [.cancel, .none, .none],
            state: .stopping),
    ]

    @Test(arguments: lives) func aLife(_ life: Life) {
        var lifecycle = Lifecycle()
        let actions = life.steps.map { step in
            switch step {
            case .drain(let active): lifecycle.drain(milliseconds: 7, active: active)
            case .stop(let active): lifecycle.stop(active: active)
            case .change(let active): lifecycle.requestsDidChange(active: active)
            }
        }
        #expect(actions == life.actions)
        #expect(lifecycle.state == life.state)
        #expect(lifecycle.isServing == (life.state == .serving))
    }
}
