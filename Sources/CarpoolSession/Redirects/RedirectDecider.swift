public import CarpoolHTTP

/// Decides about a redirect while the request waits: a client's callback, or a program's closure (RH-03).
public protocol RedirectDecider: AnyObject {
    /// Returns the request to send next, or `nil` for none: then the redirect is the final response. `proposed` is the request by the rules of
    /// RFC 9110. Answers once, now or later, on the session's loop.
    func redirect(
        _ request: Request, after response: ResponseHead, to proposed: TransportRequest,
        completion: @escaping (Result<TransportRequest?, SessionError>) -> Void)
}
