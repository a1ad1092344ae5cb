internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolCurl
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Runs a request whose body the daemon writes to standard output while it arrives: the descriptor is passed with the
/// call, so that the bytes do not go through the command. With `-i`, with a file that the daemon does not write, and if
/// the daemon refuses the descriptor, they go through a pipe (``OutputCopy``).
struct OutputRunner {
    private let request: RequestArguments
    private let daemon: DaemonAccess

    /// A body of at most so many bytes that arrives at once comes with the record, which saves time: the daemon's
    /// maximum.
    private static let inlineBytes = 32_768

    init(_ request: RequestArguments, _ daemon: DaemonAccess) {
        self.request = request
        self.daemon = daemon
    }

    /// Whether the request has a body that is printed while it arrives.
    static func takes(_ request: RequestArguments) -> Bool {
        !request.isWhole && request.method != "HEAD" && request.layout != .always
    }

    /// Whether the bytes go through the command: behind the head, into a file that the daemon does not write, and to a
    /// terminal, on which binary ones are not printed.
    private var isCopied: Bool { OutputRunner.copies(request) }

    /// The same for any request.
    static func copies(_ request: RequestArguments) -> Bool {
        request.printsHead || request.output != nil || Terminal.isTerminal && !request.isRawStream
    }

    /// Returns `nil` if the body has to be printed whole after all; nothing was sent then.
    func run(_ writer: RequestWriter, _ body: BodyArgument?) throws(Failure) -> ExitCode? {
        PipeRoom.enlarge(STDOUT_FILENO, to: PipeRoom.ofOthers)
        do throws(Failure) {
            // The cookies may have to be read in pages, as long as the request is there.
            if body?.streamed != nil || request.cookies.jar != nil {
                return isCopied ? nil : try submit(writer, body?.streamed)
            }
            return isCopied ? try copy(writer) : try perform(writer)
        } catch {
            // Another file that cannot be opened is refused again. The next call waits for the successor of a daemon
            // that drains.
            guard error.isUnread || error.refusal == "file.cannot_open" || error.refusal == "draining" else {
                throw error
            }
            return nil
        }
    }

    private func perform(_ writer: RequestWriter) throws(Failure) -> ExitCode {
        do throws(Failure) {
            let record = try record(writer)
            defer { daemon.releaseBody(of: record) }
            return try finish(record)
        } catch {
            guard error.refusal == "file.cannot_open" else { throw error }
            return try copy(writer)
        }
    }

    private func record(_ writer: RequestWriter) throws(Failure) -> JSON {
        let descriptors = PassedDescriptors(STDOUT_FILENO)
        guard !Terminal.isTerminal, MeteredCall.shows(request) else {
            return try daemon.call("request.perform", passing: descriptors) { json in
                writer.write(to: &json) { json in
                    writeOutput(to: &json)
                    writer.writeDetail(to: &json)
                }
            }
        }
        var metered = MeteredCall(request, daemon)
        return try metered.perform(passing: descriptors) { json in
            writer.write(to: &json, events: ProgressMeter.eventTypes) { json in
                writeOutput(to: &json)
                writer.writeDetail(to: &json)
                MeteredCall.writeKind(to: &json, of: request)
            }
        }
    }

    /// Submits the request, sends a body while it is read, and saves the cookies at the end.
    private func submit(_ writer: RequestWriter, _ source: StreamedBody?) throws(Failure) -> ExitCode {
        let pending = try PendingRequest(daemon, writer, passing: PassedDescriptors(STDOUT_FILENO), and: writeOutput)
        return try pending.complete(source, for: request) { (record) throws(Failure) in try finish(record) }
    }

    private func copy(_ writer: RequestWriter) throws(Failure) -> ExitCode {
        let copy = try OutputCopy(request, daemon)
        let record = try copy.run { json in
            writer.write(to: &json, events: copy.events) { json in
                writeOutput(to: &json)
                writer.writeDetail(to: &json)
                copy.writeKind(to: &json)
            }
        }
        defer { daemon.releaseBody(of: record) }
        return try finish(record, copy)
    }

    private func writeOutput(to json: inout JSONWriter) { OutputRunner.writeOutput(to: &json, of: request) }

    /// Writes the members for a body that goes to the first passed descriptor.
    static func writeOutput(to json: inout JSONWriter, of request: RequestArguments) {
        json.key("response_body")
        json.beginObject()
        json.member("fd", 0)
        json.member("inline_bytes", OutputRunner.inlineBytes)
        json.endObject()
        guard request.failsOnStatus else { return }
        json.key("validate")
        json.raw(Array(#"[{"status":["100-399"]}]"#.utf8))
    }

    /// Prints what came with the record: a short body, and the head before it. What has arrived of a body that broke
    /// off is printed too.
    private func finish(_ record: JSON, _ copy: OutputCopy? = nil) throws(Failure) -> ExitCode {
        if request.isVerbose { Report(record).printToStandardError() }
        defer { request.writeOut?.print(CurlReport(record, request)) }
        let outcome = Outcome(record, request)
        let withHead = request.printsHead && copy?.isHeadPrinted != true && record["response"] != nil
        do throws(Failure) {
            try outcome.check()
        } catch {
            // With --fail nothing is printed for an error status. A file stays as it was.
            try outcome.checkStatus()
            guard request.output == nil else { throw error }
            try ResponseOutput(record, request).write(to: nil, withHead: withHead)
            throw error
        }
        if request.output != nil, let copy {
            try copy.store(record, withHead: withHead)
        } else {
            try ResponseOutput(record, request).write(to: nil, withHead: withHead)
        }
        return .success
    }
}
