/// Receives the events of transport tasks, on the loop. Some methods are called from inside libcurl, so a transport
/// carries out what they ask for (``TransportTask/cancel()``, ``TransportTask/resume()``,
/// ``Transport/start(_:delegate:)``) after they have returned.
public protocol TransferDelegate: AnyObject {
    /// The task has left the admission queue and was given to the network.
    func transferDidStart(_ transfer: any TransportTask)
    /// A connection was made for the task, and the certificate of its peer was accepted.
    func transferDidSecureConnection(_ transfer: any TransportTask)
    /// The head of the final response is complete; interim responses (1xx) are not reported.
    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead)
    /// A piece of the body, decoded if the request asked for it, at most 16 KiB. The bytes are valid during the call
    /// only.
    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition
    /// The whole body, of so many bytes, is a file of a store. Returns the path of another name that the file gets, if
    /// the delegate takes it as a file; `nil` for pieces.
    func transfer(_ transfer: any TransportTask, pathForBodyOf count: Int) -> String?
    /// The file of the body has the name that the delegate has asked for, which is the delegate's from now on. No
    /// pieces follow.
    func transfer(_ transfer: any TransportTask, didReceiveFileOf count: Int, at path: String)
    /// The transport has passed `count` more bytes of the request's body to the network.
    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int)
    /// The origin has said, by this head of a 304, that a stored response is valid, which follows.
    func transfer(_ transfer: any TransportTask, didValidateBy head: ResponseHead)
    /// The whole response is about to be stored: it is, unless the delegate decides otherwise.
    func transfer(_ transfer: any TransportTask, proposesToStore proposal: CacheProposal)
    /// The task has completed; no event follows. The error is `nil` if the response arrived whole, whatever its status.
    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion)
}

extension TransferDelegate {
    /// Does nothing.
    public func transferDidSecureConnection(_ transfer: any TransportTask) {}
    /// Does nothing.
    public func transfer(_ transfer: any TransportTask, didValidateBy head: ResponseHead) {}
    /// Takes pieces.
    public func transfer(_ transfer: any TransportTask, pathForBodyOf count: Int) -> String? { nil }
    /// Does nothing.
    public func transfer(_ transfer: any TransportTask, didReceiveFileOf count: Int, at path: String) {}
    /// Agrees.
    public func transfer(_ transfer: any TransportTask, proposesToStore proposal: CacheProposal) {
        proposal.decide(.store)
    }
}

/// A delegate's answer to a piece of a body.
public enum BodyDisposition: Sendable {
    /// It has taken the bytes.
    case accept
    /// It has not taken them: they come again after ``TransportTask/resume()``.
    case pause
    /// It wants no more: the task completes with ``TransportError/Code/cancelled``.
    case stop
}

/// The result of a task.
public struct TransferCompletion {
    /// Why it failed; `nil` if the response arrived whole.
    public let error: TransportError?
    /// The metrics of the task; also set when it failed.
    public let metrics: TransferMetrics

    /// Makes a completion.
    public init(error: TransportError?, metrics: TransferMetrics) {
        self.error = error
        self.metrics = metrics
    }
}
