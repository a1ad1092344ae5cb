internal import CarpoolCaller
internal import CarpoolCurl

extension CompletionTree {
    /// What the value of an option can be.
    enum Value: Hashable {
        /// One of these words.
        case words([String])
        case file
        case directory
        /// A text, or `@` and a file.
        case data
        /// Any text.
        case text
    }
}

/// What the values of options can be, by name and placeholder.
extension CompletionTree.Value {
    /// The methods that are suggested; a server may take others.
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// For an option of the commands.
    init(of long: String, placeholder: String?) {
        self =
            switch (long, placeholder) {
            case (_, nil): .text
            case ("--request", _): .words(CompletionTree.Value.methods)
            case ("--pretty", _): .words(RequestArguments.Layout.allCases.map(\.rawValue))
            case ("--priority", _): .words(RequestArguments.priorities)
            case ("--cache", _): .words(CachePolicyArguments.policies)
            case ("--tls-max", _): .words(ConnectionArguments.versions)
            case ("--cert-type", _): .words(["PEM", "P12"])
            case ("--oauth2-client-auth", _): .words(["basic", "body"])
            case ("--scope", _): .words(["all", "mine", "session:"])
            case ("--continue-at", _): .words(["-"])
            case ("--cookie", _), (_, "FILE"), (_, "PATH"), (_, "FILE[:PASSWORD]"): .file
            case (_, "DIR"): .directory
            case ("--header", _), (_, "DATA"), (_, "TEXT"), (_, "SECRET"): .data
            default: .text
            }
    }

    /// For an option of curl.
    init(ofCurl option: CurlOption) {
        self =
            switch (option.name, option.argument) {
            case ("help", _): .words(["all"] + CurlHelp.categories.map(\.name))
            case ("request", _): .words(CompletionTree.Value.methods)
            case ("tls-max", _): .words(ConnectionArguments.versions)
            case ("cert-type", _), ("key-type", _): .words(["PEM", "DER", "ENG", "P12"])
            case ("continue-at", _): .words(["-"])
            case (_, "<file>"), (_, "<path>"), (_, "<data|file>"), (_, "<certificate[:password]>"): .file
            case (_, "<dir>"): .directory
            case (_, "<data>"), (_, "<format>"), (_, "<header/@file>"), (_, "<url/file>"): .data
            default: .text
            }
    }
}
