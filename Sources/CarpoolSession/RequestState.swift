/// Where a request is in its life.
public enum RequestState: String, Sendable {
    /// Made, and not yet asked to go.
    case initialized
    /// On its way.
    case resumed
    /// Over: with a response or an error.
    case finished
    /// Ended by a call; stays so for ever, also when its transfer has still to wind up.
    case cancelled

    /// Whether the model's table allows the step (`cancelled` and `finished` are final).
    func canBecome(_ next: RequestState) -> Bool {
        switch (self, next) {
        case (.initialized, .resumed), (.initialized, .cancelled), (.initialized, .finished): true
        case (.resumed, .finished), (.resumed, .cancelled): true
        default: false
        }
    }
}
