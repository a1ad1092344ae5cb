internal import CarpoolSystem

/// A command line of curl while it is read.
struct CurlCommandLine {
    var invocation = CurlInvocation()
    /// The options since the last `--next`.
    var operation = CurlOperation()
    /// Warnings, in order.
    var warnings: [String] = []
    var variables = CurlVariables()
    /// The first option that only the real curl has, as it was written.
    var realOption: String?
    /// `-h`, `-V` and the like end the reading.
    var answer: Answer?
    /// What the request is (curl allows one of `-d`, `-F`, `-I`).
    var kind: Kind?
    let environment: Environment
    /// The files of options that were read and cannot be read again, such as standard input.
    var consumed: [CurlConsumedInput] = []
    /// How deep configuration files are nested.
    var depth = 0

    init(_ environment: Environment) { self.environment = environment }

    enum Answer: Equatable {
        case help(String)
        case version
        case manual
    }

    /// The kinds of a request that exclude each other.
    enum Kind: String {
        case head = "HEAD (-I, --head)"
        case form = "multipart formpost (-F, --form)"
        case post = "POST (-d, --data)"
        case put = "PUT (-T, --upload-file)"
    }

    /// Sets the kind of the request.
    mutating func select(_ kind: Kind) throws(CurlError) {
        if let other = self.kind, other != kind {
            throw CurlError(
                exitCode: CurlExitCode.failedInitialization,
                message: "You can only select one HTTP request method! You asked for both \(kind.rawValue) and "
                    + "\(other.rawValue).", form: .warning)
        }
        self.kind = kind
    }

    /// Adds a URL: it completes the first target that has none.
    mutating func add(url: String) { operation.targets[place { $0.url == nil }].url = url }

    /// Adds the output of the next URL.
    mutating func add(output: CurlOperation.Target.Output) {
        operation.targets[place { $0.output == nil }].output = output
    }

    /// Adds the upload to the next URL.
    mutating func add(upload: String) { operation.targets[place { $0.upload == nil }].upload = upload }

    /// The first target that has room, or a new one.
    private mutating func place(_ hasRoom: (CurlOperation.Target) -> Bool) -> Int {
        if let index = operation.targets.firstIndex(where: hasRoom) { return index }
        operation.targets.append(CurlOperation.Target())
        return operation.targets.count - 1
    }

    /// Begins the options after `--next`.
    mutating func begin() throws(CurlError) {
        guard operation.targets.contains(where: { $0.url != nil }) else {
            throw CurlValueError.badUse("missing URL before --next")
        }
        try finishOperation()
    }

    /// Ends the options of an operation.
    mutating func finishOperation() throws(CurlError) {
        if !operation.request.data.isEmpty, !operation.request.isGet { try select(.post) }
        if operation.targets.contains(where: { $0.upload != nil }) { try select(.put) }
        invocation.operations.append(operation)
        operation = CurlOperation()
        kind = nil
    }

    /// Notes an option that only the real curl has.
    mutating func needsReal(_ option: String) { if realOption == nil { realOption = option } }
}

/// Bytes that were read from an input that cannot be read again.
struct CurlConsumedInput: Equatable {
    /// The descriptor that they were read from.
    let descriptor: Int32
    let bytes: [UInt8]
}

/// A value that an option does not take. The reader of options adds the option's name.
enum CurlValueError {
    static let badNumber = CurlError(
        exitCode: CurlExitCode.failedInitialization, message: "expected a proper numerical parameter", form: .option)
    static let negativeNumber = CurlError(
        exitCode: CurlExitCode.failedInitialization, message: "expected a positive numerical parameter", form: .option)
    static let tooLarge = CurlError(
        exitCode: CurlExitCode.failedInitialization, message: "too large number", form: .option)
    static let badUse = CurlError(
        exitCode: CurlExitCode.failedInitialization, message: "is badly used here", form: .option)
    /// A value that is not allowed, with a line that says why.
    static func badUse(_ reason: String, isWarning: Bool = false) -> CurlError {
        var error = badUse
        if isWarning { error.warnings = [reason] } else { error.reasons = [reason] }
        return error
    }
    static let blank = CurlError(
        exitCode: CurlExitCode.failedInitialization, message: "blank argument where content is expected",
        form: .option)
    static let unreadable = CurlError(
        exitCode: CurlExitCode.readError, message: "error encountered when reading a file", form: .option)
    static let variableSyntax = CurlError(
        exitCode: CurlExitCode.failedInitialization, message: "syntax error in --variable argument", form: .option)
    static let expansion = CurlError(
        exitCode: CurlExitCode.failedInitialization, message: "variable expansion failure", form: .option)
}
