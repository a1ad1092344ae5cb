/// Where the daemon is in its life, and what is to be done next: a value that is told what happened and says what follows.
struct Lifecycle {
    enum State: String {
        /// New requests are taken.
        case serving
        /// Those under way may end; new ones are refused.
        case draining
        /// What was under way is cancelled, and its callers are told.
        case stopping
        /// Nothing is under way any more; what is queued is written out.
        case closing
    }

    enum Action: Equatable {
        case none
        /// Wait for the requests under way, at most so long.
        case drain(milliseconds: Int)
        /// Cancel what is under way.
        case cancel
        /// Write out what is queued, and go.
        case close
    }

    private(set) var state = State.serving

    var isServing: Bool { state == .serving }

    /// Somebody wants the daemon to end when its work is done. A second wish means: now.
    mutating func drain(milliseconds: Int, active: Int) -> Action {
        guard state == .serving, active > 0 else { return stop(active: active) }
        state = .draining
        return .drain(milliseconds: milliseconds)
    }

    /// The drain's time is over, or somebody wants the end now.
    mutating func stop(active: Int) -> Action {
        switch state {
        case .serving, .draining:
            state = .stopping
            return active > 0 ? .cancel : requestsDidChange(active: 0)
        case .stopping, .closing: return .none
        }
    }

    /// The number of requests under way has changed.
    mutating func requestsDidChange(active: Int) -> Action {
        guard active == 0, state == .draining || state == .stopping else { return .none }
        state = .closing
        return .close
    }
}
