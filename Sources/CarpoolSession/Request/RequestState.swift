/// Lifecycle state of a request, as its owner sees it (session model §1.2).
public enum RequestState: String, Sendable {
    /// Created and not resumed yet.
    case initialized
    /// Active.
    case resumed
    /// Suspended by a call; continues when it is resumed.
    case suspended
    /// Finished, with a response or an error.
    case finished
    /// Cancelled by a call. This state is final, even while the transfer is still ending.
    case cancelled

    /// Whether the session model allows the transition (`cancelled` and `finished` are final).
    func canBecome(_ next: RequestState) -> Bool {
        switch (self, next) {
        case (.initialized, _): next != .initialized
        case (.resumed, .suspended), (.suspended, .resumed): true
        case (.resumed, .cancelled), (.resumed, .finished): true
        case (.suspended, .cancelled), (.suspended, .finished): true
        default: false
        }
    }
}
