internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// `carpool get`, `head`, `post`, `put`, `patch`, `delete`: one request and its response.
struct RequestCommand {
    private let request: RequestInvocation

    init(_ request: RequestInvocation) { self.request = request }

    func run() throws(Failure) -> ExitCode {
        let body = try loadBody()
        let daemon = try DaemonAccess(socket: request.socket)
        let record = try daemon.call("request.perform") { write(body, to: &$0) }
        // The copy of a body that came through a pipe may go now.
        withExtendedLifetime(body) {}
        if request.isVerbose { Report(record).complain() }
        defer { RequestCommand.release(record, daemon) }
        try check(record)
        try ResponseOutput(record).write(to: request.output, withHead: request.printsHead)
        return .success
    }

    private func loadBody() throws(Failure) -> RequestBody? {
        guard let body = request.body else { return nil }
        do throws(SystemError) {
            return try RequestBody.load(body)
        } catch {
            throw Failure(.usage, "cannot read the body: \(error)")
        }
    }

    // MARK: The request

    private func write(_ body: RequestBody?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("url", request.url)
        writer.member("method", request.method)
        writeFields(to: &writer)
        if let body {
            writer.key("body")
            body.write(to: &writer)
        }
        writer.member("session", request.session)
        writeTrust(to: &writer)
        // The time without any progress is one minute by default, and must not end what may take longer.
        writer.member("timeout_ms", request.timeoutMilliseconds)
        writer.member("resource_timeout_ms", request.timeoutMilliseconds)
        writer.member("http_version", request.httpVersion)
        writeRetries(to: &writer)
        if !request.followsRedirects { writer.member("redirect", static: "do_not_follow") }
        writer.endObject()
    }

    private func writeFields(to writer: inout JSONWriter) {
        var fields = request.fields
        func addUnlessGiven(_ name: String, _ value: String) {
            guard !fields.contains(where: { $0.name.lowercased() == name.lowercased() }) else { return }
            fields.append(RequestInvocation.Field(name, value))
        }
        if request.isJSON {
            addUnlessGiven("Content-Type", "application/json")
            addUnlessGiven("Accept", "application/json")
        } else if request.body != nil {
            addUnlessGiven("Content-Type", "application/x-www-form-urlencoded")
        }
        guard !fields.isEmpty else { return }
        writer.key("headers")
        writer.beginArray()
        for field in fields {
            writer.beginArray()
            writer.string(field.name)
            writer.string(field.value)
            writer.endArray()
        }
        writer.endArray()
    }

    /// A status that may pass is one to try again, whether or not the command is to fail in the end.
    private func writeRetries(to writer: inout JSONWriter) {
        guard request.retries > 0 else { return }
        writer.key("interceptor")
        writer.beginArray()
        writer.beginObject()
        writer.key("retry_policy")
        writer.beginObject()
        writer.member("limit", request.retries)
        writer.member("without_validation", true)
        writer.member("respect_retry_after", true)
        writer.endObject()
        writer.endObject()
        writer.endArray()
    }

    private func writeTrust(to writer: inout JSONWriter) {
        guard request.trust != .system else { return }
        writer.key("trust")
        writer.beginObject()
        switch request.trust {
        case .system: break
        case .certificates(let path): writer.member("ca_file", SocketLocation.absolute(path))
        case .nobody: writer.member("verify", false)
        }
        writer.endObject()
    }

    // MARK: The response

    private static let unacceptableStatus: StaticString = "response_validation_failed.unacceptable_status_code"

    private func check(_ record: JSON) throws(Failure) {
        // Statuses are the policy's failures, not ours: what came of the last try is printed as any response.
        let isRefused = record["outcome"]?["error"]?["name"]?.isString(RequestCommand.unacceptableStatus) ?? false
        guard isRefused || record["outcome"]?["ok"]?.bool == true else { throw RequestCommand.failure(record) }
        guard request.failsOnStatus, let status = record["response"]?["status"]?.int, status >= 400 else { return }
        let url = record["response"]?["url"]?.string ?? request.url
        throw Failure(.httpFailure, "HTTP status \(status) from \(url)")
    }

    private static func failure(_ record: JSON) -> Failure {
        let error = record["outcome"]?["error"]
        let name = error?["name"]?.string ?? "unknown"
        let message = error?["message"]?.string ?? "the request ended in state \(record["state"]?.string ?? "unknown")"
        let isTimeout = name.hasSuffix(".timed_out") || name == "timed_out"
        return Failure(isTimeout ? .timedOut : .transferFailed, "\(name): \(message)", hint: error?["hint"]?.string)
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
