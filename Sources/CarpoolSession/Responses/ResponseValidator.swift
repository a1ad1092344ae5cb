/// Judges a response that has arrived whole (VA-01 to VA-10).
public protocol ResponseValidator {
    /// Its name in the event `request.did_validate`: `status`, `content_type`, `callback`.
    var name: String { get }
    /// Gives why the response is not acceptable, or `nil`. ``Request/response`` and ``Request/body`` hold it. Answers once, now or later, on
    /// the session's loop.
    func validate(_ request: Request, completion: @escaping (SessionError?) -> Void)
}
