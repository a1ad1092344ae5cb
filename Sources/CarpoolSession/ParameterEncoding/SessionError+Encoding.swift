// Parameters that cannot be encoded (session model §1.14, `parameterEncoderFailed` and `parameterEncodingFailed`).
extension SessionError {
    /// The form encoder refuses the parameters; `underlying` says why.
    static func encoderFailed(_ cause: EncodingFailure) -> SessionError {
        failed("parameter_encoder_failed.encoder_failed", "the parameters cannot be encoded as a form", cause)
    }

    /// The parameters have no JSON; `underlying` says why.
    static func jsonEncodingFailed(_ cause: EncodingFailure) -> SessionError {
        failed("parameter_encoding_failed.json_encoding_failed", "the parameters cannot be encoded as JSON", cause)
    }

    /// The parameters have no property list; `underlying` says why.
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
