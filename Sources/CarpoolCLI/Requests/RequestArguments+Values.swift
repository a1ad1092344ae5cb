internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolRPC

// Parsing of option values, and which options exclude each other.
extension RequestArguments {
    static func header(_ text: String) throws(UsageError) -> Header {
        if text.hasPrefix("@") {
            guard text != "@" else { throw RequestArguments.fileNameIsMissing }
            return .file(String(text.dropFirst()))
        }
        guard let field = Field(line: text) else {
            throw UsageError("-H takes 'NAME: VALUE' or @FILE, not '\(text)'")
        }
        return .field(field)
    }

    private static var fileNameIsMissing: UsageError {
        UsageError("@ is followed by the name of a file, or by - for standard input")
    }

    static func setResume(_ arguments: inout RequestArguments, _ value: String) throws(UsageError) {
        guard value == "-" else { throw UsageError("-C takes only '-': the daemon knows the offset") }
        arguments.resumes = true
    }

    static func setData(_ arguments: inout RequestArguments, _ value: String) throws(UsageError) {
        try arguments.setBody(value, isJSON: false)
    }

    static func setJSON(_ arguments: inout RequestArguments, _ value: String) throws(UsageError) {
        try arguments.setBody(value, isJSON: true)
    }

    private mutating func setBody(_ value: String, isJSON: Bool) throws(UsageError) {
        // As in curl, the texts of several -d are the fields of one form.
        if case .text(let first)? = body, !isJSON, !self.isJSON, !value.hasPrefix("@") {
            body = .text("\(first)&\(value)")
            return
        }
        try checkNoBody()
        self.isJSON = isJSON
        switch value {
        case "@-": body = .standardInput
        case "@": throw RequestArguments.fileNameIsMissing
        default: body = value.hasPrefix("@") ? .file(String(value.dropFirst())) : .text(value)
        }
    }

    private func checkNoBody() throws(UsageError) {
        guard body == nil else {
            throw UsageError(
                "a request has one body: -d, --json, -T and -F exclude each other; only -d with a text may be repeated")
        }
    }

    static func setUpload(_ arguments: inout RequestArguments, _ value: String) throws(UsageError) {
        try arguments.checkNoBody()
        guard !value.isEmpty else { throw UsageError("-T needs the name of a file, or -") }
        arguments.body = value == "-" ? .stream : .upload(value)
    }

    static func addPart(_ arguments: inout RequestArguments, _ value: String) throws(UsageError) {
        let part = try FormPart(value)
        if case .form(let parts)? = arguments.body {
            arguments.body = .form(parts + [part])
        } else {
            try arguments.checkNoBody()
            arguments.body = .form([part])
        }
    }

    mutating func setStreaming(_ new: Streaming) throws(UsageError) {
        guard streaming == nil || new == streaming else { throw UsageError("--lines and --sse exclude each other") }
        streaming = new
    }

    static func jar(_ text: String) throws(UsageError) -> String {
        guard !text.isEmpty else { throw UsageError("--cookie-jar takes the name of a file, or - for standard output") }
        return text
    }

    static var priorities: [String] { ["high", "normal", "low"] }

    static func priority(_ text: String) throws(UsageError) -> String {
        guard priorities.contains(text) else {
            throw UsageError("--priority takes high, normal or low, not '\(text)'")
        }
        return text
    }

    /// Parses the value of an option that is declared with its parameter. The daemon checks its bounds.
    static func count(_ text: String, of option: CommandOption) throws(UsageError) -> Int {
        guard text.utf8.first != UInt8(ascii: "+"), let count = Int(text), count >= 0 else {
            throw UsageError("\(option.long) takes a whole number, not '\(text)'")
        }
        return count
    }

    /// The maximum of redirects that the daemon accepts.
    private static let mostRedirects = 64

    /// The value of `--max-redirs`.
    static func redirects(_ text: String) throws(UsageError) -> Int {
        guard text.utf8.first != UInt8(ascii: "+"), let count = Int(text), 0...mostRedirects ~= count else {
            throw UsageError("--max-redirs takes a number from 0 to \(mostRedirects), not '\(text)'")
        }
        return count
    }
}
