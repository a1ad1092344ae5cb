internal import CarpoolClient

/// A request command as it was typed.
struct RequestInvocation: Equatable {
    /// What of the body is printed while it comes.
    enum Streaming: String {
        case bytes
        case lines
        case events = "sse"
    }

    /// Whose word counts for the server's certificate.
    enum Trust: Equatable {
        case system
        case certificates(String)
        case nobody
    }

    /// A header field.
    struct Field: Equatable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// Reads `NAME: VALUE`; `nil` if it is none.
        init?(line: some StringProtocol) {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            self.init(String(line[..<colon]), String(value))
        }
    }

    /// What stands behind `-H`.
    enum Header: Equatable {
        case field(Field)
        /// A file with one field on each line, so that secrets are in no argument that other programs can see; `nil` for standard input.
        case file(String?)
    }

    let command: Command
    var url = ""
    var method: String
    var headers: [Header] = []
    var body: BodyArgument.Source?
    var isJSON = false
    /// `nil` for standard output.
    var output: String?
    /// Whether the download that was to make the output goes on where it broke off.
    var resumes = false
    /// `nil` to wait for the whole body.
    var streaming: Streaming?
    var isSilent = false
    var printsHead: Bool
    var failsOnStatus = false
    /// How often it is sent again at most.
    var retries = 0
    var timeoutMilliseconds: Int?
    /// `nil` for the session's.
    var priority: String?
    var session: String?
    var trust = Trust.system
    var followsRedirects = true
    var httpVersion: String?
    var isVerbose = false
    var socket: String?

    init(_ command: Command) {
        self.command = command
        method = command.method ?? "GET"
        printsHead = command == .head
    }

    mutating func apply(_ option: Option, _ value: String) throws(UsageError) {
        switch option {
        case .method: method = value
        case .header: headers.append(try header(value))
        case .data, .json: try setBody(value, isJSON: option == .json)
        case .upload: try setUpload(value)
        case .form: try addPart(value)
        case .output: output = value == "-" ? nil : value
        case .resume:
            guard value == "-" else {
                throw UsageError("-C takes '-': the daemon knows where it broke off", in: command)
            }
            resumes = true
        case .stream: try setStreaming(.bytes)
        case .lines: try setStreaming(.lines)
        case .events: try setStreaming(.events)
        case .include: printsHead = true
        case .fail: failsOnStatus = true
        case .retry: retries = try count(value)
        case .timeout: timeoutMilliseconds = try TimeSpan.milliseconds(value, in: command)
        case .priority: priority = try checked(priority: value)
        case .session: session = value
        case .certificates: try setTrust(.certificates(value))
        case .insecure: try setTrust(.nobody)
        case .follow: followsRedirects = true
        case .noFollow: followsRedirects = false
        case .http1: httpVersion = "1.1"
        case .http2: httpVersion = "2"
        case .verbose: isVerbose = true
        case .silent: isSilent = true
        default: break
        }
    }

    mutating func apply(operand: String) throws(UsageError) {
        guard url.isEmpty else {
            throw UsageError("one URL at a time: \(url) and then \(operand)", in: command)
        }
        url = operand
    }

    private func header(_ text: String) throws(UsageError) -> Header {
        if text.hasPrefix("@") {
            guard text != "@" else {
                throw UsageError("@ is followed by the name of a file, or by - for standard input", in: command)
            }
            return .file(text == "@-" ? nil : String(text.dropFirst()))
        }
        guard let field = Field(line: text) else {
            throw UsageError("-H takes 'NAME: VALUE' or @FILE, not '\(text)'", in: command)
        }
        return .field(field)
    }

    private mutating func setBody(_ value: String, isJSON: Bool) throws(UsageError) {
        try checkNoBody()
        self.isJSON = isJSON
        switch value {
        case "@-": body = .standardInput
        case "@": throw UsageError("@ is followed by the name of a file, or by - for standard input", in: command)
        default: body = value.hasPrefix("@") ? .file(String(value.dropFirst())) : .text(value)
        }
    }

    private func checkNoBody() throws(UsageError) {
        guard body == nil else {
            throw UsageError("there is one body: -d, --json, -T and -F exclude each other", in: command)
        }
    }

    private mutating func setUpload(_ value: String) throws(UsageError) {
        try checkNoBody()
        guard !value.isEmpty else { throw UsageError("-T needs the name of a file, or -", in: command) }
        body = value == "-" ? .stream : .upload(value)
    }

    private mutating func addPart(_ value: String) throws(UsageError) {
        let part = try FormPart(value, command)
        if case .form(let parts)? = body {
            body = .form(parts + [part])
        } else {
            try checkNoBody()
            body = .form([part])
        }
    }

    private mutating func setStreaming(_ new: Streaming) throws(UsageError) {
        // --stream beside one of the others says nothing new.
        guard streaming == nil || streaming == .bytes || new == .bytes || new == streaming else {
            throw UsageError("--lines and --sse exclude each other", in: command)
        }
        if streaming == nil || new != .bytes { streaming = new }
    }

    /// What only the whole command line shows.
    func check() throws(UsageError) {
        guard !url.isEmpty else { throw UsageError("\(command.rawValue) needs a URL", in: command) }
        guard streaming == nil || output == nil else {
            throw UsageError("-o waits for the whole body, and what is streamed is printed as it comes", in: command)
        }
        guard !resumes || output != nil else {
            throw UsageError("-C goes on with a file: it needs -o FILE", in: command)
        }
    }

    private mutating func setTrust(_ trust: Trust) throws(UsageError) {
        guard self.trust == .system || self.trust == trust else {
            throw UsageError("--cacert and --insecure exclude each other", in: command)
        }
        self.trust = trust
    }

    private func checked(priority: String) throws(UsageError) -> String {
        guard ["high", "normal", "low"].contains(priority) else {
            throw UsageError("--priority takes high, normal or low, not '\(priority)'", in: command)
        }
        return priority
    }

    /// The most retries that the daemon makes.
    private static let mostRetries = 99

    private func count(_ text: String) throws(UsageError) -> Int {
        guard text.utf8.first != UInt8(ascii: "+"), let count = Int(text), 0...RequestInvocation.mostRetries ~= count
        else {
            throw UsageError(
                "--retry takes a number from 0 to \(RequestInvocation.mostRetries), not '\(text)'", in: command)
        }
        return count
    }
}
