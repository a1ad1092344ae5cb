internal import CarpoolHTTP

// Failures of bodies that are sent.
extension SessionError {
    /// The body could not be made (session model §1.14, 1000); what says by its own name that a form was not encoded stays as it is.
    static func createUploadableFailed(_ cause: SessionError) -> SessionError {
        guard !cause.name.hasPrefix("multipart_encoding_failed.") else { return cause }
        return SessionError(
            "create_uploadable_failed", "the body could not be made: \(cause.message)", hint: cause.hint,
            isRetryable: cause.isRetryable, transport: cause.transport, details: [Detail("underlying", .error(cause))])
    }

    /// The body has been read and nobody can give it again (UP-05).
    static let bodyCannotBeSentAgain = sessionTaskFailed(
        TransportError(
            .requestBodyStreamExhausted, "the body has been read and cannot be sent again from its beginning"))
}
