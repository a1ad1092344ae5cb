internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// Sends one request and prints its response, or writes it to a file.
struct RequestRunner {
    private let request: RequestArguments

    init(_ request: RequestArguments) { self.request = request }

    func run() throws(Failure) -> ExitCode {
        let fields = try HeaderFile.fields(of: request.headers)
        let body = try loadBody()
        let daemon = try DaemonAccess(socket: request.socket)
        let writer = RequestWriter(request, fields, body)
        // The copy of a piped body is deleted when the request has finished.
        defer { withExtendedLifetime(body) {} }
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
        if case .stream(let source)? = body { return try send(source, writer, daemon) }
        // The cookies may have to be read in pages, as long as the request is there.
        if request.cookies.jar != nil { return try send(nil, writer, daemon) }
        let record = try daemon.call("request.perform") { writer.write(to: &$0) }
        defer { RequestRunner.release(record, daemon) }
        return try finish(record)
    }

    private func loadBody() throws(Failure) -> BodyArgument? {
        guard let body = request.body else { return nil }
        do throws(SystemError) {
            return try BodyArgument.load(body)
        } catch {
            throw Failure(.usage, "cannot read the body: \(error)")
        }
    }

    /// Sends a body while it is read, if there is one.
    private func send(_ source: StreamedBody?, _ writer: RequestWriter, _ daemon: DaemonAccess) throws(Failure)
        -> ExitCode
    {
        let pending = try PendingRequest(daemon, writer)
        defer { pending.dismiss() }
        if let source { try pending.sendBody(source) }
        let record = try pending.wait()
        guard let jar = request.cookies.jar else { return try finish(record) }
        try CookieOutput(jar, pending).after(record) { () throws(Failure) in _ = try finish(record) }
        return .success
    }

    private func finish(_ record: JSON) throws(Failure) -> ExitCode {
        if request.isVerbose { Report(record).printToStandardError() }
        try Outcome(record, request).check()
        try ResponseOutput(record).write(to: request.output, withHead: request.printsHead)
        return .success
    }

    /// Releases a body in the spool, which the daemon keeps until then.
    private static func release(_ record: JSON, _ daemon: DaemonAccess) {
        guard record["body"]?["file"] != nil, let id = record["request"]?.string else { return }
        // If that fails, the daemon deletes the body after its lease.
        _ = try? daemon.call("body.release") { writer in
            writer.beginObject()
            writer.member("request", id)
            writer.endObject()
        }
    }
}
