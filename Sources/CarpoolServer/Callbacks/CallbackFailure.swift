/// Why a callback has no answer.
enum CallbackFailure: String, CaseIterable {
    /// No connection is there that could answer.
    case nobody
    /// The deadline has passed.
    case late
    /// The client has gone, and no other could take its place.
    case disconnected
    /// The client answered with an error of JSON-RPC.
    case error
    /// The client's answer is none to this question.
    case rubbish
    /// As many questions are open as there may be.
    case tooMany = "too_many"
}
