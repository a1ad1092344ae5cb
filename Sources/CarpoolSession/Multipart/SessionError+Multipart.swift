internal import CarpoolSystem

// Failures of forms (session model §1.14, 1100 to 1112).
extension SessionError {
    /// A part's file failed a check.
    static func multipart(_ reason: String, _ what: String, _ path: String, _ code: Int32? = nil) -> SessionError {
        let shown = beginning(of: path)
        var details = [Detail("url", .string(shown))]
        var text = "the part \(shown) \(what)"
        if let code {
            let cause = SystemError(code: code, operation: "open", subject: shown)
            if let shortage = shortage(cause) { return shortage }
            text += ": \(cause.reason)"
            details.append(Detail("errno", .integer(Int(code))))
        }
        return SessionError("multipart_encoding_failed.\(reason)", text, details: details)
    }

    /// Too many files are waiting to be opened.
    static func multipartTooBusy(_ error: WorkerError) -> SessionError {
        SessionError(
            "multipart_encoding_failed.body_part_file_not_reachable_with_error", "the parts cannot be opened: \(error)",
            hint: "try again later, or send fewer requests at a time", isRetryable: true)
    }

    /// The length of a part differs from the announced one (MP-10, MP-11).
    static func multipartLength(expected: Int64, read: Int64, _ path: String?) -> SessionError {
        var details = [
            Detail("bytes_expected", .integer(Int(clamping: expected))),
            Detail("bytes_read", .integer(Int(clamping: read))),
        ]
        if let path { details.append(Detail("url", .string(beginning(of: path)))) }
        return SessionError(
            "multipart_encoding_failed.input_stream_read_failed",
            "a part has \(read) bytes where \(expected) were announced", details: details)
    }
}
