internal import CarpoolHTTP

// Failures of request bodies.
extension SessionError {
    /// The body could not be created (session model §1.14, 1000); a failure of multipart encoding keeps its own name.
    static func createUploadableFailed(_ cause: SessionError) -> SessionError {
        guard !cause.name.hasPrefix("multipart_encoding_failed.") else { return cause }
        return SessionError(
            "create_uploadable_failed", "the body could not be created: \(cause.message)", hint: cause.hint,
            isRetryable: cause.isRetryable, transport: cause.transport, details: [Detail("underlying", .error(cause))])
    }

    /// The body was read and cannot be produced again (UP-05).
    static let bodyCannotBeSentAgain = sessionTaskFailed(
        TransportError(
            .requestBodyStreamExhausted, "the body was read and cannot be sent again from its beginning",
            curlCode: 65, curlText: "Send failed since rewinding of the data stream failed"))
}
