internal import CarpoolJSON

// Failures that a reader of a stream receives in place of a record.
extension SessionError {
    /// A line or an event is longer than the reader's limit.
    static func streamRecordTooLong(limit: Int) -> SessionError {
        SessionError(
            "response_serialization_failed.input_too_large",
            "a record of the stream takes more than \(limit) bytes as JSON",
            hint: "read the stream as bytes or text, or raise max_line_bytes with client.hello",
            details: [Detail("limit_bytes", .integer(limit))])
    }

    /// A line is not JSON (ST-07).
    static func streamRecordIsNotJSON(_ error: JSONError) -> SessionError {
        .decodingFailed(
            SessionError("invalid_json", error.description, details: [Detail("code", .string(error.code.rawValue))]))
    }
}
