/// The daemon's lifecycle: a state machine that takes events and returns the next action.
struct Lifecycle {
    enum State: String {
        /// New requests are taken.
        case serving
        /// Active requests may end; new ones are refused.
        case draining
        /// Requests are cancelled, and their callers get answers.
        case stopping
        /// No request is active; queued output is sent.
        case closing
    }

    enum Action: Equatable {
        case none
        /// Wait for the active requests, at most so long.
        case drain(milliseconds: Int)
        /// Cancel active requests.
        case cancel
        /// Send queued output, and end.
        case close
    }

    private(set) var state = State.serving

    var isServing: Bool { state == .serving }

    /// Ends the daemon when its active requests are over. A second call ends it now.
    mutating func drain(milliseconds: Int, active: Int) -> Action {
        guard state == .serving, active > 0 else { return stop(active: active) }
        state = .draining
        return .drain(milliseconds: milliseconds)
    }

    /// Ends the daemon now: on a call, or when the drain's time is over.
    mutating func stop(active: Int) -> Action {
        switch state {
        case .serving, .draining:
            state = .stopping
            return active > 0 ? .cancel : requestsDidChange(active: 0)
        case .stopping, .closing: return .none
        }
    }

    /// The number of active requests has changed.
    mutating func requestsDidChange(active: Int) -> Action {
        guard active == 0, state == .draining || state == .stopping else { return .none }
        state = .closing
        return .close
    }
}
