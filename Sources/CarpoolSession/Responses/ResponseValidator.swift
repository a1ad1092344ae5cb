/// Validates a complete response (VA-01 to VA-10).
public protocol ResponseValidator {
    /// Its name in the event `request.did_validate`: `status`, `content_type`, `callback`.
    var name: String { get }
    /// Returns the failure, or `nil` if the response is acceptable. ``Request/response`` and ``Request/body`` hold
    /// it. Answers once, now or later, on the session's loop.
    func validate(_ request: Request, completion: @escaping (SessionError?) -> Void)
}
