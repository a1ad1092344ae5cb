/// Where the daemon is in its life, and when the next step is due: a value that is told what happened and says what to do.
struct Lifecycle {
    enum State: String {
        /// New requests are taken.
        case serving
        /// Those under way may end; new ones are refused.
        case draining
        /// Everything is ended and written out.
        case stopping
    }

    enum Action: Equatable {
        case none
        /// Wait for the requests under way, at most so long.
        case drain(milliseconds: Int)
        /// Cancel what is left, write out what is queued, and go.
        case stop
    }

    private(set) var state = State.serving

    var isServing: Bool { state == .serving }

    /// Somebody wants the daemon to end when its work is done. A second wish means: now.
    mutating func drain(milliseconds: Int, active: Int) -> Action {
        switch state {
        case .serving where active == 0: return stop()
        case .serving:
            state = .draining
            return .drain(milliseconds: milliseconds)
        case .draining: return stop()
        case .stopping: return .none
        }
    }

    /// The number of requests under way has changed.
    mutating func requestsDidChange(active: Int) -> Action {
        state == .draining && active == 0 ? stop() : .none
    }

    /// The drain's time is over, or somebody wants the end now.
    mutating func stop() -> Action {
        guard state != .stopping else { return .none }
        state = .stopping
        return .stop
    }
}
