internal import CarpoolSystem

/// Reads the arguments of `carpool curl`.
enum CurlArguments {
    /// Reads a command line, with the configuration file of the user unless `-q` comes first. What was read before an
    /// error stays, because it says whether messages are printed.
    static func read(_ arguments: [String], into line: inout CurlCommandLine) throws(CurlError) {
        let isPlain = arguments.first.map { $0 == "--disable" || $0.hasPrefix("-q") } ?? false
        do throws(CurlError) {
            if !isPlain { CurlConfigurationFile.readDefault(into: &line) }
            try readAll(arguments, into: &line)
            guard line.answer == nil else { return }
            try finish(&line, arguments)
        } catch {
            var complete = error
            complete.warnings = line.warnings + error.warnings
            complete.reasons = line.remarks + error.reasons
            throw complete
        }
    }

    private static func readAll(_ arguments: [String], into line: inout CurlCommandLine) throws(CurlError) {
        var rest = arguments[...]
        var hasEnded = false
        while let argument = rest.popFirst(), line.answer == nil {
            if !hasEnded, argument == "--" {
                hasEnded = true
                continue
            }
            do throws(CurlError) {
                if hasEnded || !argument.hasPrefix("-") {
                    if argument.isEmpty { throw CurlValueError.blank }
                    try line.add(url: argument)
                } else if try CurlOptionReader.read(argument, rest.first, into: &line) {
                    rest = rest.dropFirst()
                }
            } catch {
                throw error.naming(argument)
            }
        }
    }

    private static func finish(_ line: inout CurlCommandLine, _ arguments: [String]) throws(CurlError) {
        if line.operation.response.usesContentDisposition, line.operation.request.resume == .fromFile {
            throw CurlError(
                exitCode: CurlExitCode.failedInitialization,
                message: "--continue-at and --remote-header-name cannot be combined", form: .usage)
        }
        if !line.operation.hasURL, line.invocation.operations.isEmpty, line.realOption == nil {
            if arguments.isEmpty {
                throw CurlError(exitCode: CurlExitCode.failedInitialization, message: "", form: .usage)
            }
            throw CurlError.noURL
        }
        line.finishOperation()
    }
}

extension CurlError {
    /// The error of an option's value, with the option's name.
    func naming(_ option: String) -> CurlError {
        guard form == .option else { return self }
        var error = CurlError(
            exitCode: exitCode, message: "option \(option): \(message)", form: .usage, warnings: warnings)
        error.reasons = reasons
        return error
    }
}
