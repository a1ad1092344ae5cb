internal import CarpoolCaller
internal import CarpoolSystem

/// A command that sends one request: `get`, `head`, `post`, `put`, `patch` or `delete`.
protocol RequestCommand: Command where Arguments == RequestArguments {
    /// The method that is sent unless `-X` names another.
    static var method: String { get }
}

extension RequestCommand {
    static var synopsis: String { "[OPTIONS] URL..." }

    static var arguments: RequestArguments { RequestArguments(method: method) }

    static func add(_ operand: String, to arguments: inout RequestArguments) throws(UsageError) {
        guard !operand.isEmpty else { throw UsageError("a URL is empty") }
        if let option = ItemAdvice.option(for: operand) {
            throw UsageError("'\(operand)' is not a URL; did you mean \(option)?")
        }
        if arguments.url.isEmpty {
            arguments.url = RequestArguments.withScheme(operand)
        } else {
            arguments.moreURLs.append(RequestArguments.withScheme(operand))
        }
    }

    static func validate(_ arguments: RequestArguments) throws(UsageError) {
        guard !arguments.url.isEmpty || arguments.inputFile != nil else { throw UsageError("\(name) needs a URL") }
        try arguments.checkSeveral()
        try arguments.checkStandardInput()
        try arguments.oauth2.check(hasUser: arguments.credential.user != nil)
        try arguments.checkRetries()
        guard !arguments.isStream || arguments.output == nil && !arguments.usesRemoteName else {
            throw UsageError(
                "-o writes the complete body to a file; --stream, --lines and --sse print it while it arrives")
        }
        guard !arguments.usesRemoteName || arguments.output == nil else {
            throw UsageError("-O takes the name of the URL, and -o another one; leave out one of them")
        }
        guard !arguments.resumes || arguments.output != nil || arguments.usesRemoteName else {
            throw UsageError("-C resumes the download to a file: it needs -o FILE")
        }
    }

    static func run(_ arguments: RequestArguments) throws(Failure) -> ExitCode {
        NamedPath.setLimit(milliseconds: arguments.timeoutMilliseconds)
        return try Failure.naming(of: arguments) { () throws(Failure) in
            guard arguments.needsCallerFiles else { return try send(arguments) }
            var complete = arguments
            try complete.readCallerFiles()
            return try send(complete)
        }
    }

    private static func send(_ arguments: RequestArguments) throws(Failure) -> ExitCode {
        if arguments.isSeveral {
            var shared = arguments
            try shared.readShared()
            return try RequestSeries(shared).run()
        }
        guard arguments.readsIdentity || arguments.usesRemoteName else { return try RequestRunner(arguments).run() }
        var complete = arguments
        try complete.nameOutput()
        try complete.readIdentity()
        try complete.readPassword()
        return try RequestRunner(complete).run()
    }
}

/// A request command that sends a body: `post`, `put`, `patch` or `delete`.
protocol BodyCommand: RequestCommand {}

extension BodyCommand {
    static var details: String {
        """
        -d sends a body as application/x-www-form-urlencoded unless a header field says otherwise, a file byte
        for byte. -T sends a file, or standard input while it is read; -F sends a form (multipart/form-data).
        The response is printed as by 'carpool get'.
        """
    }

    static var options: [Option<RequestArguments>] {
        Option.ofRequest([.method, .header] + Option.body + [.output] + Option.streams)
    }
}
