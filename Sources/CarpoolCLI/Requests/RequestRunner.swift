internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// Sends one request and prints its response.
struct RequestRunner {
    private let request: RequestArguments

    init(_ request: RequestArguments) { self.request = request }

    func run() throws(Failure) -> ExitCode {
        let fields = try HeaderFile.fields(of: request.headers)
        let body = try loadBody()
        let daemon = try DaemonAccess(socket: request.socket)
        let writer = RequestWriter(request, fields, body)
        // The copy of a body that came through a pipe may go when all is done.
        defer { withExtendedLifetime(body) {} }
        if let streaming = request.streaming {
            return try StreamRunner(request, streaming, daemon).run(writer, body)
        }
        if let path = request.output, let place = DownloadPlace(path, request, daemon) {
            return try DownloadRunner(request, place, daemon).run(writer, body)
        }
        guard !request.resumes else {
            throw Failure(.usage, "only a file of one's own can be gone on with", hint: "leave out -C and -i")
        }
        if case .stream(let source)? = body { return try send(source, writer, daemon) }
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

    /// Sends a body while it comes.
    private func send(_ source: StreamedBody, _ writer: RequestWriter, _ daemon: DaemonAccess) throws(Failure)
        -> ExitCode
    {
        let pending = try PendingRequest(daemon, writer)
        defer { pending.dismiss() }
        try pending.feed(source)
        return try finish(try pending.wait())
    }

    private func finish(_ record: JSON) throws(Failure) -> ExitCode {
        if request.isVerbose { Report(record).complain() }
        try Outcome(record, request).check()
        try ResponseOutput(record).write(to: request.output, withHead: request.printsHead)
        return .success
    }

    /// A body in the spool is ours until we say that we have it.
    private static func release(_ record: JSON, _ daemon: DaemonAccess) {
        guard record["body"]?["file"] != nil, let id = record["request"]?.string else { return }
        // Should it fail, the daemon deletes the body when its time is over.
        _ = try? daemon.call("body.release") { writer in
            writer.beginObject()
            writer.member("request", id)
            writer.endObject()
        }
    }
}
