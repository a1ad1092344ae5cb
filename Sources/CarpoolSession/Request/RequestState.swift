/// Where a request is in its life, as whoever holds it has it (session model §1.2).
public enum RequestState: String, Sendable {
    /// Made, and not yet asked to go.
    case initialized
    /// On its way.
    case resumed
    /// Held up by a call; goes on when it is resumed.
    case suspended
    /// Over: with a response or an error.
    case finished
    /// Ended by a call; stays so for ever, also when its transfer has still to wind up.
    case cancelled

    /// Whether the model's table allows the step (`cancelled` and `finished` are final).
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
