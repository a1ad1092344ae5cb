internal import CarpoolCaller
internal import CarpoolExchange

/// The command line of curl that does what the arguments say: that of the daemon, with the options that the command
/// carries out itself, and with the files in place of what the daemon has read from them.
struct DryRunLine {
    private let line: String
    private let request: RequestArguments

    /// What every line of the daemon has, behind the source of a body.
    private static let start = "curl -q -v -g"
    private static let separator = " \\\n\t"

    init(_ line: String, _ request: RequestArguments) {
        self.line = line
        self.request = request
    }

    var text: String {
        guard let range = line.firstRange(of: DryRunLine.start + DryRunLine.separator) else { return line }
        let rest = line[range.upperBound...].split(separator: DryRunLine.separator, omittingEmptySubsequences: false)
            .filter { certificate == nil || !$0.hasPrefix("--cert '<") }
        let first = request.isVerbose ? DryRunLine.start : "curl -q -g"
        let parts = [line[..<range.lowerBound] + first] + options.map { Substring($0) } + rest
        return parts.joined(separator: DryRunLine.separator)
    }

    /// The options that the daemon does not know.
    private var options: [String] {
        var options: [String] = []
        if request.isSilent { options.append("-sS") }
        if request.failsOnStatus { options.append("-f") }
        if request.printsHead, request.method != "HEAD" { options.append("-i") }
        if let output = request.output { options.append("-o \(DryRunLine.quoted(output))") }
        if request.resumes { options.append("-C -") }
        if let writeOut = request.writeOut { options.append("-w \(DryRunLine.quoted(writeOut.option))") }
        options += retries
        for file in request.cookies.files { options.append("-b \(DryRunLine.quoted(file))") }
        if let jar = request.cookies.jar { options.append("-c \(DryRunLine.quoted(jar))") }
        return options + (certificate ?? [])
    }

    private var retries: [String] {
        let retry = request.retry
        guard retry.count > 0 else { return [] }
        var options = ["--retry \(retry.count)", "--retry-connrefused"]
        if retry.delayMilliseconds > 0 { options.append("--retry-delay \((retry.delayMilliseconds + 999) / 1_000)") }
        if retry.maximumMilliseconds > 0 {
            options.append("--retry-max-time \((retry.maximumMilliseconds + 999) / 1_000)")
        }
        return options + (retry.retriesAllErrors ? ["--retry-all-errors"] : [])
    }

    /// The options of the client certificate.
    private var certificate: [String]? {
        guard let certificate = request.connection.certificate else { return nil }
        let name = certificate.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
        var options = ["--cert \(DryRunLine.quoted(name))"]
        if let type = request.connection.certificateType { options.append("--cert-type \(type.uppercased())") }
        if let key = request.connection.key { options.append("--key \(DryRunLine.quoted(key))") }
        if request.connection.password != nil { options.append("--pass '(hidden)'") }
        return options
    }

    /// A word for a POSIX shell.
    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
