internal import CarpoolSystem
internal import Glibc

// Failures of downloads (session model §1.14, row 1020).
extension SessionError {
    /// The file could not be moved to its destination, or the partial file could not be created.
    static func downloadedFileMoveFailed(source: String?, destination: String, _ error: SystemError) -> SessionError {
        if let shortage = shortage(error) { return shortage }
        var details = [
            Detail("destination", .string(beginning(of: destination, atMost: shownPathScalars))),
            Detail("errno", .integer(Int(error.code))),
        ]
        if let source {
            details.insert(Detail("source", .string(beginning(of: source, atMost: shownPathScalars))), at: 0)
        }
        return SessionError(
            "downloaded_file_move_failed", "cannot save the file as \(destination): \(error.reason)",
            hint: hint(for: error.code), details: details)
    }

    /// The disk is full, or the file is not writable.
    static func cannotWriteToFile(_ path: String, _ error: SystemError) -> SessionError {
        if let shortage = shortage(error) { return shortage }
        let isFull = error.code == ENOSPC || error.code == EDQUOT
        return SessionError(
            isFull ? "disk_full" : "cannot_write_to_file", "cannot write to \(path): \(error.reason)",
            hint: isFull ? "free disk space, and resume with resume_data if the record has it" : nil,
            details: [
                Detail("path", .string(beginning(of: path, atMost: shownPathScalars))),
                Detail("errno", .integer(Int(error.code))),
            ])
    }

    /// The response to a range request has other bytes than its `Content-Range` names.
    static func rangeIncomplete(received: Int64, end: Int64) -> SessionError {
        let isShort = received < end
        return sessionTaskFailed(
            TransportError(
                isShort ? .networkConnectionLost : .cannotParseResponse,
                "the response ended at byte \(received), and its Content-Range at byte \(end)", isRetryable: isShort))
    }

    /// The response is a part of the resource, although the whole was requested.
    static func partNotRequested(_ range: String?) -> SessionError {
        let part = range.map { "with the Content-Range \(beginning(of: $0, atMost: shownRangeScalars))" }
        return sessionTaskFailed(
            TransportError(
                .cannotParseResponse,
                "the response has the status 206 \(part ?? "without a Content-Range"), but no range was requested"))
    }

    private static let shownRangeScalars = 100

    /// The file to validate is gone, or cannot be read.
    static func dataFileReadFailed(_ path: String, _ error: SystemError) -> SessionError {
        shortage(error)
            ?? SessionError(
                "response_validation_failed.data_file_read_failed", "cannot read the downloaded file: \(error)",
                details: [Detail("path", .string(beginning(of: path, atMost: shownPathScalars)))])
    }

    private static let shownPathScalars = 1_024

    private static func beginning(of text: String, atMost count: Int) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(count)))
    }

    private static func hint(for code: Int32) -> String? {
        switch code {
        case EEXIST: "set remove_previous to replace the existing file"
        case ENOENT: "set create_directories to create missing directories"
        case EXDEV: "the partial file is on another file system: resume with a destination on that one"
        case ENOSPC, EDQUOT: "free disk space, and resume with resume_data if the record has it"
        default: nil
        }
    }
}
