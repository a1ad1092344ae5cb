/// Validates a complete response (VA-01 to VA-10).
public protocol ResponseValidator {
    /// Its name in the event `request.did_validate`: `status`, `content_type`, `callback`.
    var name: String { get }
    /// Whether it looks at the head, and whether there is a body, alone; then it answers at once while the body is not
    /// in a file.
    var needsHeadAlone: Bool { get }
    /// Returns the failure, or `nil` if the response is acceptable. ``Request/response`` and ``Request/body`` hold
    /// it. Answers once, now or later, on the session's loop.
    func validate(_ request: Request, completion: @escaping (SessionError?) -> Void)
}

extension ResponseValidator {
    /// The default: it may look at the body.
    public var needsHeadAlone: Bool { false }
}
