/// The request whose body a file stores, as far as files know it.
public protocol BodyOwner: AnyObject {
    /// The name of the request.
    var id: String { get }
    /// The object that the holder of the request has attached to it.
    var context: AnyObject? { get }
    /// Whether the request writes no more: it is over or cancelled.
    var hasStoppedWriting: Bool { get }
    /// Continues a body that had to wait because its file was full.
    func continueBody()
    /// Fails the request, because its file cannot be written.
    func failToStoreBody(_ error: SessionError)
}
