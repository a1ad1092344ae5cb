internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolCurl
internal import CarpoolJSON
internal import CarpoolSystem

/// Sends one request and prints its response, or writes it to a file.
struct RequestRunner {
    private let request: RequestArguments

    init(_ request: RequestArguments) { self.request = request }

    func run() throws(Failure) -> ExitCode {
        // One of several URLs has the whole time.
        if request.isOneOfSeveral { NamedPath.setLimit(milliseconds: request.timeoutMilliseconds) }
        let fields = try HeaderFile.fields(of: request.headers)
        let body = try loadBody()
        let daemon = try DaemonAccess(socket: request.socket)
        RetryNotice.print(for: request, from: daemon)
        let writer = RequestWriter(request, fields, body)
        // The copy of a piped body is deleted when the request has finished.
        defer { withExtendedLifetime(body) {} }
        if request.isDryRun { return try DryRun(request, daemon).run(writer) }
        try request.checkOutput()
        if let streaming = request.streaming {
            return try StreamRunner(request, streaming, daemon).run(writer, body)
        }
        if let path = request.output, let destination = DownloadDestination(path, request, daemon) {
            return try DownloadRunner(request, destination, daemon).run(writer, body)
        }
        guard !request.resumes else {
            throw Failure(
                .usage, "-C resumes only a download to a regular file of this user", hint: "leave out -C and -i")
        }
        // Not an optional runner: to destroy one, a short program would make its type, which takes 35,000 instructions.
        if OutputRunner.takes(request), let code = try OutputRunner(request, daemon).run(writer, body) { return code }
        // The cookies may have to be read in pages, as long as the request is there.
        if body?.streamed != nil || request.cookies.jar != nil {
            return try PendingRequest(daemon, writer).complete(body?.streamed, for: request, finish)
        }
        let record = try perform(writer, daemon)
        defer { daemon.releaseBody(of: record) }
        return try finish(record)
    }

    private func perform(_ writer: RequestWriter, _ daemon: DaemonAccess) throws(Failure) -> JSON {
        guard MeteredCall.shows(request) else {
            return try daemon.call("request.perform") { writer.write(to: &$0, and: writer.writeDetail) }
        }
        var metered = MeteredCall(request, daemon)
        return try metered.perform { json in
            writer.write(to: &json, events: ProgressMeter.eventTypes) { json in
                writer.writeDetail(to: &json)
                MeteredCall.writeKind(to: &json, of: request)
            }
        }
    }

    /// The body of the command line.
    func loadBody() throws(Failure) -> BodyArgument? {
        guard let body = request.body else { return nil }
        var progress = InputProgress(isSilent: request.isSilent)
        defer { progress.clear() }
        do throws(SystemError) {
            return try BodyArgument.load(body) { progress.wait(for: $0, $1, after: $2) }
        } catch {
            throw Failure(error.exitCode(or: .usage), "cannot read the body: \(error)")
        }
    }

    /// Prints a request that has ended.
    func finish(_ record: JSON) throws(Failure) -> ExitCode {
        if request.isVerbose { Report(record).printToStandardError() }
        defer { request.writeOut?.print(CurlReport(record, request)) }
        try Outcome(record, request).check()
        try ResponseOutput(record, request).write(to: request.output, withHead: request.printsHead)
        return .success
    }
}
