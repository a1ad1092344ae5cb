/// Why a callback has failed.
enum CallbackFailure: String, CaseIterable {
    /// No connection can answer.
    case noResponder = "no_responder"
    /// The deadline has passed.
    case timedOut = "timed_out"
    /// The client has disconnected, and no other can answer.
    case disconnected
    /// The client answered with an error of JSON-RPC.
    case error
    /// The client's answer does not match the question's schema.
    case invalidAnswer = "invalid_answer"
    /// The limit of open questions is reached.
    case tooMany = "too_many"
}
