/// A failure of `carpool curl`: curl's exit code, and what it writes to standard error.
package struct CurlError: Error, Equatable {
    /// How the line for standard error begins.
    enum Form: Equatable {
        /// `curl: (N) `: the failure of a transfer.
        case numbered
        /// `curl: `: a failure before a transfer, such as a file that cannot be read.
        case plain
        /// `curl: `, and where help is: a wrong command line. `-s` does not hide it.
        case usage
        /// A value that an option does not take: the reader of options adds `option NAME: ` and makes it ``usage``.
        case option
        /// A failure without a message.
        case silent
        /// `Warning: `: a failure that `-s` hides even with `-S`.
        case warning
    }

    /// curl's exit code.
    let exitCode: Int32
    let message: String
    var form = Form.numbered
    /// Warnings that come before it.
    var warnings: [String] = []
    /// Lines about the reason, which come before it too.
    var reasons: [String] = []
    /// A line about the command line, which comes before it and which `-s` does not hide.
    var usage: String?

    /// The line for standard error, without the last line end.
    var line: String {
        switch form {
        case .numbered: "curl: (\(exitCode)) \(message)"
        case .plain, .usage, .option, .silent: "curl: \(message)"
        case .warning: "Warning: \(message)"
        }
    }

    /// A failure with curl's text for its exit code.
    init(_ exitCode: Int32) { self.init(exitCode: exitCode, message: CurlErrorText.of(exitCode)) }

    init(exitCode: Int32, message: String, form: Form = .numbered, warnings: [String] = []) {
        self.exitCode = exitCode
        self.message = message
        self.form = form
        self.warnings = warnings
    }

    /// An operation has no URL.
    static let noURL = CurlError(
        exitCode: CurlExitCode.failedInitialization, message: "(\(CurlExitCode.failedInitialization)) no URL specified",
        form: .usage)

    /// `-f`: the status is one of an error.
    static func http(_ status: Int) -> CurlError {
        CurlError(exitCode: CurlExitCode.httpError, message: "The requested URL returned error: \(status)")
    }

    /// A file or standard input cannot be read.
    static func unreadable(_ path: String) -> CurlError {
        CurlError(exitCode: CurlExitCode.readError, message: "Failed to open \(path)", form: .plain)
    }
}
