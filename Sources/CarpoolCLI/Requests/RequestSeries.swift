internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// Several requests that differ in their URL: one after the other, or some at once. What they print is in the order of
/// the URLs and not mixed.
struct RequestSeries {
    private let arguments: RequestArguments

    /// The maximum size of a file of URLs.
    private static let maximumBytes = 16_777_216

    init(_ arguments: RequestArguments) { self.arguments = arguments }

    func run() throws(Failure) -> ExitCode {
        let urls = try (arguments.url.isEmpty ? [] : [arguments.url]) + arguments.moreURLs + fileURLs()
        guard !urls.isEmpty else { throw Failure(.usage, "\(arguments.inputFile ?? "") has no URL") }
        try checkNames(urls)
        // A request that is not sent takes no time.
        return arguments.parallel > 1 && !arguments.isDryRun ? try runAtOnce(urls) : try runInTurn(urls)
    }

    /// The URLs of the file: a line each, without empty ones and comments.
    private func fileURLs() throws(Failure) -> [String] {
        guard let path = arguments.inputFile else { return [] }
        var bytes: [UInt8] = []
        do throws(SystemError) {
            bytes = try InputFile.read(path, atMost: RequestSeries.maximumBytes)
        } catch {
            throw Failure(error.exitCode(or: .usage), "cannot read the URLs: \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.usage, "\(InputFile.name(of: path)) is not UTF-8")
        }
        return text.split(whereSeparator: \.isNewline).compactMap { line in
            let url = line.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return url.isEmpty || url.hasPrefix("#") ? nil : RequestArguments.withScheme(String(url))
        }
    }

    /// Refuses two URLs whose files have the same name: the second one would replace the first one.
    private func checkNames(_ urls: [String]) throws(Failure) {
        guard arguments.usesRemoteName else { return }
        var owners: [String: String] = [:]
        var named = arguments
        for url in urls {
            named.url = url
            // A URL without a name fails in its turn.
            guard (try? named.nameOutput()) != nil, let name = named.output else { continue }
            guard let other = owners.updateValue(url, forKey: name) else { continue }
            throw Failure(
                .usage, "-O: '\(name)' would be the file of \(other) and of \(url)",
                hint: "use one command for each, with -o FILE")
        }
    }

    /// The arguments of one request.
    private func single(_ url: String, _ number: Int) throws(Failure) -> RequestArguments {
        var single = arguments
        single.url = url
        single.urlNumber = number
        single.isOneOfSeveral = true
        single.moreURLs = []
        single.inputFile = nil
        try single.nameOutput()
        try single.readIdentity()
        return single
    }

    private func runInTurn(_ urls: [String]) throws(Failure) -> ExitCode {
        var first = ExitCode.success
        for (number, url) in urls.enumerated() {
            do throws(Failure) {
                _ = try RequestRunner(try single(url, number)).run()
            } catch {
                try note(error, url, &first)
            }
        }
        return first
    }

    /// Prints a failure with its URL; the first one decides about the exit code.
    private func note(_ failure: Failure, _ url: String, _ first: inout ExitCode) throws(Failure) {
        // Without a message it is the end of standard output, and without a daemon nothing can follow.
        guard let message = failure.namingOption.namingFile(of: arguments).message, failure.code != .unreachable,
            !arguments.failsEarly
        else {
            throw failure
        }
        // The message about a status has the URL already.
        Terminal.printError(message.hasSuffix(url) ? "carpool: \(message)" : "carpool: \(url): \(message)")
        if let hint = failure.hint { Terminal.printError("hint: \(CommandHint.text(hint))") }
        if first == .success { first = failure.code }
    }

    // MARK: At once

    /// Keeps some requests under way. Bodies for standard output wait in the daemon until those before them were
    /// printed; files are written by the daemon as they arrive.
    private func runAtOnce(_ urls: [String]) throws(Failure) -> ExitCode {
        let daemon = try DaemonAccess(socket: arguments.socket)
        var names: [String: String] = [:]
        RetryNotice.print(for: arguments, from: daemon) { names[$0] }
        let fields = try HeaderFile.fields(of: arguments.headers)
        var first = ExitCode.success
        var window = RequestWindow(parallel: arguments.parallel, ProgressBoard(isSilent: arguments.isSilent))
        var rest = urls[...]
        while !rest.isEmpty || !window.isEmpty {
            while window.hasRoom, let url = rest.popFirst() {
                do throws(Failure) {
                    let request = try single(url, rest.startIndex - 1)
                    try request.checkOutput()
                    let writer = RequestWriter(request, fields, try RequestRunner(request).loadBody())
                    let member = try start(request, writer, daemon)
                    names[member.request] = url
                    window.add(member, name: request.nameAmongSeveral)
                } catch {
                    try note(error, url, &first)
                }
            }
            guard !window.isEmpty, let next = window.next(hasMore: !rest.isEmpty) else { continue }
            do throws(Failure) {
                names[next.request] = nil
                _ = try next.complete()
            } catch {
                var failure = error
                if error.code == .unreachable, next.isResumable || window.isResumable {
                    failure.hint = DownloadRunner.hintOfSeveral
                }
                try note(failure, next.url, &first)
            }
        }
        return first
    }

    private func start(
        _ request: RequestArguments, _ writer: RequestWriter, _ daemon: DaemonAccess
    ) throws(Failure) -> RequestWindow.Member {
        guard let path = request.output, let destination = DownloadDestination(path, request, daemon) else {
            let pending = try PendingRequest(daemon, writer)
            return RequestWindow.Member(request.url, pending) { (record) throws(Failure) in
                try pending.complete(with: record, RequestRunner(request).finish)
            }
        }
        let runner = DownloadRunner(request, destination, daemon)
        let download = try runner.submit(writer)
        return RequestWindow.Member(request.url, download.request, download) { (record) throws(Failure) in
            guard let record else { return try runner.finish(download, try download.request.wait()) }
            return try runner.finish(download, record)
        }
    }
}

extension RequestArguments {
    /// The name of one of several requests in its line of progress.
    var nameAmongSeveral: String { output ?? url }

    /// What shows the progress of the request.
    var meter: ProgressMeter { ProgressMeter(isSilent: isSilent, name: isOneOfSeveral ? nameAmongSeveral : nil) }

    /// Whether there may be several URLs.
    var isSeveral: Bool { !moreURLs.isEmpty || inputFile != nil }

    /// The value of `--parallel`.
    static func parallel(_ text: String) throws(UsageError) -> Int {
        guard let number = Int(text), (1...64).contains(number) else {
            throw UsageError("--parallel takes a number from 1 to 64, not '\(text)'")
        }
        return number
    }

    /// Reads what all of several requests have in common: the files of header fields and of cookies, and the password.
    /// A pipe is read once.
    mutating func readShared() throws(Failure) {
        headers = try HeaderFile.fields(of: headers).map { .field($0) }
        try cookies.readFiles()
        try readPassword()
    }

    /// Refuses options that several requests cannot share.
    func checkSeveral() throws(UsageError) {
        guard isSeveral else { return }
        if let output, output != "/dev/null" {
            throw UsageError("-o names one file, and there are several URLs: use -O, or one command for each")
        }
        if resumes { throw UsageError("-C resumes one download, and there are several URLs") }
        if cookies.jar != nil { throw UsageError("-c saves the cookies of one request, and there are several URLs") }
        if body == .stream || body == .standardInput {
            throw UsageError("standard input can be sent once, and there are several URLs: send a file")
        }
        if streaming != nil { throw UsageError("--lines and --sse print one stream, and there are several URLs") }
    }
}
