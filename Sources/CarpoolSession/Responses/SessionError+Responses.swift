internal import CarpoolJSON
public import CarpoolSystem

// Failures of validation and of serialization (session model §1.14, rows 1600 and 1700).
extension SessionError {
    /// The most scalars of a text from an origin or a caller that a message contains.
    private static let shownScalars = 200
    /// The most acceptable types that a message contains.
    private static let shownTypes = 32

    // MARK: Validation

    /// The status is not among the acceptable ones.
    static func unacceptableStatusCode(_ code: Int) -> SessionError {
        SessionError(
            unacceptableStatusName, "the status \(code) is not acceptable", details: [Detail("code", .integer(code))])
    }

    private static let unacceptableStatusName = "response_validation_failed.unacceptable_status_code"

    /// Whether the status of the response is the failure.
    var isUnacceptableStatus: Bool { name == SessionError.unacceptableStatusName }

    /// The response has no type, or an invalid one.
    static func missingContentType(acceptable: [String]) -> SessionError {
        SessionError(
            "response_validation_failed.missing_content_type",
            "the response has a body but no valid Content-Type, and not every type is acceptable",
            hint: "accept */* if any Content-Type is acceptable",
            details: [acceptableContentTypes(acceptable)])
    }

    /// The type is not among the acceptable ones.
    static func unacceptableContentType(_ type: MIMEType, acceptable: [String]) -> SessionError {
        let shown = shortened(type.description)
        return SessionError(
            "response_validation_failed.unacceptable_content_type", "the content type \(shown) is not acceptable",
            details: [acceptableContentTypes(acceptable), Detail("response_content_type", .string(shown))])
    }

    private static func acceptableContentTypes(_ types: [String]) -> Detail {
        Detail("acceptable_content_types", .strings(types.sorted().prefix(shownTypes).map(shortened)))
    }

    /// A validator of a client or a program rejected the response (VA-07).
    public static func customValidationFailed(_ underlying: SessionError) -> SessionError {
        SessionError(
            "response_validation_failed.custom_validation_failed",
            "the response is not acceptable: \(underlying.message)", details: [Detail("underlying", .error(underlying))]
        )
    }

    // MARK: Serialization

    /// The body is missing where one is required (RS-02).
    static let inputDataNilOrZeroLength = SessionError(
        "response_serialization_failed.input_data_nil_or_zero_length",
        "the response has no body, and neither its status nor the request's method allows that",
        hint:
            "if that is expected, add the status to serialize.empty_statuses or the method to serialize.empty_methods")

    /// The body is not kept any more.
    public static let inputFileNil = SessionError(
        "response_serialization_failed.input_file_nil", "the body was released before it was read")

    /// The file that holds the body cannot be read.
    /// - Parameters:
    ///   - path: the file's, if it has one.
    ///   - error: why it cannot be read.
    public static func inputFileReadFailed(path: String?, _ error: SystemError) -> SessionError {
        shortage(error) ?? inputFileReadFailed(path: path, reason: error.description)
    }

    /// The body's file does not have what was written to it.
    public static func inputFileReadFailed(path: String?, reason: String) -> SessionError {
        SessionError(
            "response_serialization_failed.input_file_read_failed", "cannot read the body's file: \(reason)",
            details: path.map { [Detail("path", .string($0))] } ?? [])
    }

    /// The body is larger than the limit for serialization.
    static func inputTooLarge(_ count: Int64, limit: Int) -> SessionError {
        SessionError(
            "response_serialization_failed.input_too_large",
            "the body has \(count) bytes; at most \(limit) bytes can be serialized",
            hint: "omit serialize, and read the body's file",
            details: [
                Detail("size_bytes", .integer(Int(clamping: count))), Detail("limit_bytes", .integer(limit)),
            ])
    }

    /// The bytes are not valid text of that encoding.
    static func stringSerializationFailed(_ encoding: TextEncoding) -> SessionError {
        SessionError(
            "response_serialization_failed.string_serialization_failed", "the body is not valid \(encoding.rawValue)",
            hint: "set serialize.encoding, or use the serializer data",
            details: [Detail("encoding", .string(encoding.rawValue))])
    }

    /// The text is not JSON.
    static func jsonSerializationFailed(_ error: JSONError) -> SessionError {
        var details = [Detail("code", .string(error.code.rawValue))]
        if let line = error.line { details.append(Detail("line", .integer(line))) }
        if let column = error.column { details.append(Detail("column", .integer(column))) }
        return jsonSerializationFailed(
            because: SessionError("invalid_json", shortened(error.description), details: details))
    }

    /// The text is not valid in the encoding that its first bytes indicate.
    static func jsonSerializationFailed(_ encoding: TextEncoding) -> SessionError {
        jsonSerializationFailed(because: .stringSerializationFailed(encoding))
    }

    private static func jsonSerializationFailed(because underlying: SessionError) -> SessionError {
        SessionError(
            "response_serialization_failed.json_serialization_failed", "the body is not JSON: \(underlying.message)",
            details: [Detail("underlying", .error(underlying))])
    }

    /// The decoder cannot read the bytes.
    static func decodingFailed(_ underlying: SessionError) -> SessionError {
        SessionError(
            "response_serialization_failed.decoding_failed", "the body cannot be decoded: \(underlying.message)",
            details: [Detail("underlying", .error(underlying))])
    }

    /// A serializer or a preprocessor of a client or a program failed (RS-10).
    public static func customSerializationFailed(_ underlying: SessionError) -> SessionError {
        SessionError(
            "response_serialization_failed.custom_serialization_failed",
            "the body could not be serialized: \(underlying.message)",
            details: [Detail("underlying", .error(underlying))])
    }

    /// An error that a program's closure has thrown.
    convenience init(thrown error: any Error) { self.init("thrown", SessionError.shortened("\(error)")) }

    /// Truncates a text by scalars: one character may be as long as the text.
    private static func shortened(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(shownScalars)))
    }
}
