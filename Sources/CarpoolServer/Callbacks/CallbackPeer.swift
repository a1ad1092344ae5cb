/// A connection as the callback broker sees it.
protocol CallbackPeer: AnyObject {
    /// Whether the client would see a question, and could answer it.
    var canAnswer: Bool { get }
    /// Whether the daemon opens paths that the client names.
    var pathAccess: PathAccess { get }
    /// Sends a question.
    func send(_ question: CallbackQuestion, number: Int, deadlineMilliseconds: Int)
}
