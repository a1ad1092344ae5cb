/// The lines that `carpool curl` writes to standard error for errors and warnings.
struct CurlMessage {
    /// `-s`
    let isSilent: Bool
    /// `-S`
    let showsErrors: Bool
    /// The width of the terminal, or `COLUMNS` (``columns(environment:terminal:)``).
    let columns: Int

    private static let helpAdvice = "curl: try 'curl --help' or 'curl --manual' for more information\n"
    /// What curl says after a certificate that could not be verified.
    private static let certificateAdvice = """
        More details here: https://curl.se/docs/sslcerts.html

        curl failed to verify the legitimacy of the server and therefore could not
        establish a secure connection to it. To learn more about this situation and
        how to fix it, please visit the webpage mentioned above.

        """

    /// The text for an error with its warnings; empty if `-s` hides it.
    func text(_ error: CurlError) -> String {
        let isShown = !isSilent || showsErrors
        let reasons = !isSilent ? error.reasons.map(reason).joined() : ""
        let usage = error.usage.map { "curl: \($0)\n" + CurlMessage.helpAdvice } ?? ""
        let warnings = error.warnings.map(warning).joined() + reasons + usage
        if error.form == .usage || error.form == .option {
            // A command without arguments gets the advice alone.
            return warnings + (error.message.isEmpty ? "" : error.line + "\n") + CurlMessage.helpAdvice
        }
        guard isShown else { return warnings }
        switch error.form {
        case .numbered:
            let advice = error.exitCode == CurlExitCode.unverifiedPeer ? CurlMessage.certificateAdvice : ""
            return warnings + error.line + "\n" + advice
        case .plain, .usage, .option: return warnings + wrapped(error.message, prefix: "curl: ")
        case .silent: return warnings
        case .warning: return warnings + warning(error.message)
        }
    }

    /// The text for the reason of a failure, or for one that ends nothing.
    func reason(_ message: String) -> String { wrapped(message, prefix: "curl: ") }

    /// The text for a warning; empty with `-s`.
    func warning(_ message: String) -> String { isSilent ? "" : wrapped(message, prefix: "Warning: ") }

    /// The text for a note, which `-v` shows.
    func note(_ message: String) -> String { isSilent ? "" : wrapped(message, prefix: "Note: ") }

    /// A text in lines that fit the width, each after the prefix. A line ends after a blank, if there is one.
    private func wrapped(_ message: String, prefix: String) -> String {
        let width = max(1, columns - prefix.utf8.count)
        var rest = Array(message.utf8)[...]
        var result = ""
        repeat {
            var line = rest
            if rest.count > width {
                let head = rest.prefix(width)
                let blank = head.dropFirst().lastIndex(where: \.isBlank)
                line = head[...(blank ?? head.endIndex - 1)]
            }
            result += prefix + line.text + "\n"
            rest = rest[line.endIndex...]
        } while !rest.isEmpty
        return result
    }

    /// The width: the variable `COLUMNS` if it is from 21 to 10,000, else that of the terminal, else 79.
    static func columns(environment: String?, terminal: Int?) -> Int {
        if let environment, let number = Int(environment.utf8.prefix(while: \.isDigit).text),
            (21...10_000).contains(number)
        {
            return number
        }
        if let terminal, (1..<10_000).contains(terminal) { return terminal }
        return 79
    }
}
