// Failures of parameter encoding (session model §1.14, `parameterEncoderFailed` and `parameterEncodingFailed`).
extension SessionError {
    /// The form encoder refuses the parameters; `underlying` is the reason.
    static func encoderFailed(_ cause: EncodingFailure) -> SessionError {
        failed("parameter_encoder_failed.encoder_failed", "the parameters cannot be encoded as a form", cause)
    }

    /// The parameters cannot be encoded as JSON; `underlying` is the reason.
    static func jsonEncodingFailed(_ cause: EncodingFailure) -> SessionError {
        failed("parameter_encoding_failed.json_encoding_failed", "the parameters cannot be encoded as JSON", cause)
    }

    /// The parameters cannot be encoded as a property list; `underlying` is the reason.
    static func propertyListEncodingFailed(_ cause: EncodingFailure) -> SessionError {
        failed(
            "parameter_encoding_failed.property_list_encoding_failed",
            "the parameters cannot be encoded as a property list",
            cause)
    }

    private static func failed(_ name: String, _ message: String, _ cause: EncodingFailure) -> SessionError {
        SessionError(
            name, "\(message): \(cause.message)", hint: cause.hint,
            details: [Detail("underlying", .error(cause.sessionError))])
    }
}
