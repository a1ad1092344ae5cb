// Failures of redirects.
extension SessionError {
    /// More redirects than allowed.
    static func tooManyRedirects(_ limit: Int) -> SessionError {
        SessionError(
            "session_task_failed.http_too_many_redirects", "more than \(limit) redirects",
            hint: "raise redirect.max_hops if so many redirects are expected",
            details: [Detail("limit", .integer(limit))])
    }

    /// A redirect that would have left TLS.
    static func insecureRedirect(_ target: String) -> SessionError {
        SessionError(
            "session_task_failed.insecure_redirect", "the origin redirects from https to \(beginning(of: target))",
            hint: "set redirect.allow_downgrade to follow it")
    }
}
