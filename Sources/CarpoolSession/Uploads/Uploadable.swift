/// Creates the body of a request just before it is sent, once for every attempt (UP-03, UP-04): for bodies that do not
/// exist in advance.
public protocol Uploadable: AnyObject {
    /// Whether it can create the body again, after one that was sent in part.
    var canRepeat: Bool { get }
    /// How many bytes it keeps in memory for the body.
    var memoryBytes: Int { get }
    /// The `Content-Type` of the body, which overrides the request's own; `nil` to keep that (MP-02).
    var contentType: String? { get }
    /// Creates the body; calls back once, now or later, on the session's loop.
    func makeBody(for request: Request, completion: @escaping (Result<CreatedUpload, SessionError>) -> Void)
}

extension Uploadable {
    /// The default, 0, for bodies that are requested or read when they are sent.
    public var memoryBytes: Int { 0 }
}
