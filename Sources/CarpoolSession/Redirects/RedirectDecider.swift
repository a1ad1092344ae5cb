public import CarpoolHTTP

/// Decides about a redirect while the request waits: a client's callback, or a program's closure (RH-03).
public protocol RedirectDecider: AnyObject {
    /// Gives the request to send next, or `nil` for none: then the response that redirects is the final one. `proposed` is what the rules of
    /// RFC 9110 make of it. Answers once, now or later, on the session's loop.
    func redirect(
        _ request: Request, after response: ResponseHead, to proposed: TransportRequest,
        completion: @escaping (Result<TransportRequest?, SessionError>) -> Void)
}
