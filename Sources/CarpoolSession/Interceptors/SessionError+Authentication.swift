// Failures of authentication. They are causes inside `request_adaptation_failed` or `request_retry_failed`; none
// contains a secret.
extension SessionError {
    /// There is no credential (AI-02, AI-07).
    static let missingCredential = SessionError(
        "authentication_error.missing_credential", "there is no credential",
        hint: "set one with session.set_credential")

    /// More refreshes than the window allows (AI-12).
    static let excessiveRefresh = SessionError(
        "authentication_error.excessive_refresh",
        "the credential was refreshed too often, and the current one has expired or was rejected",
        hint: "the origin rejects new credentials: check scope and audience, or raise oauth2.window")

    /// A refresh exceeded its timeout.
    static func refreshTimedOut(milliseconds: Int) -> SessionError {
        SessionError(
            "authentication_error.refresh_timed_out", "the credential was not refreshed within \(milliseconds) ms",
            hint: "raise oauth2.refresh_timeout_ms if the token endpoint is slow", isRetryable: true)
    }

    /// Too many requests wait for a refresh.
    static let tooManyWaiting = SessionError(
        "authentication_error.too_many_waiting",
        "\(AuthenticationState.maximumWaiting) requests already wait for a new credential", isRetryable: true)

    /// A credential that cannot be sent.
    static let unusableCredential = SessionError(
        "authentication_error.unusable_credential", "the access token is not valid in a header field",
        hint: "use a token without blanks and control characters")

    /// The token endpoint returned no credential.
    static func refreshFailed(_ message: String, details: [Detail] = []) -> SessionError {
        SessionError("authentication_error.refresh_failed", message, details: details)
    }

    /// The request to the token endpoint failed. The transport's error is kept for the retry policies.
    static func refreshFailed(_ cause: SessionError) -> SessionError {
        SessionError(
            "authentication_error.refresh_failed", "the request to the token endpoint failed: \(cause.message)",
            hint: cause.hint, isRetryable: cause.isRetryable, transport: cause.transport,
            details: [Detail("underlying", .error(cause))])
    }
}
