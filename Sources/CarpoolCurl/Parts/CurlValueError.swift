/// Why curl refuses an option or its value. The reader of options adds the option's name.
enum CurlValueError {
    static let unknown = option("is unknown")
    static let missing = option("requires parameter")
    static let irreversible = option("the given option cannot be reversed with a --no- prefix")
    static let badNumber = option("expected a proper numerical parameter")
    static let negativeNumber = option("expected a positive numerical parameter")
    static let tooLarge = option("too large number")
    static let badUse = option("is badly used here")
    static let blank = option("blank argument where content is expected")
    static let variableSyntax = option("syntax error in --variable argument")
    static let expansion = option("variable expansion failure")
    /// A row of a file of options has more than its option takes.
    static let garbage = option("had unsupported trailing garbage")
    static let protocolIsUnsupported = option(
        "a specified protocol is unsupported by libcurl", CurlExitCode.unsupportedProtocol)
    static let unreadable = option("error encountered when reading a file", CurlExitCode.readError)

    private static func option(
        _ message: String, _ exitCode: Int32 = CurlExitCode.failedInitialization
    ) -> CurlError {
        CurlError(exitCode: exitCode, message: message, form: .option)
    }

    /// A value that is not allowed, with a line that says why.
    static func badUse(_ reason: String, isWarning: Bool = false) -> CurlError {
        var error = badUse
        if isWarning { error.warnings = [reason] } else { error.reasons = [reason] }
        return error
    }

    /// A file that cannot be read, with a line that names it.
    static func unreadable(_ reason: String) -> CurlError {
        var error = unreadable
        error.reasons = [reason]
        return error
    }
}
