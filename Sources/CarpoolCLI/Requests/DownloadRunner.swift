internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolCurl
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Runs a download with `-o FILE`: the daemon writes the file; the command waits, shows the progress, and stores the
/// resume data.
struct DownloadRunner {
    private let request: RequestArguments
    private let destination: DownloadDestination
    private let daemon: DaemonAccess

    init(_ request: RequestArguments, _ destination: DownloadDestination, _ daemon: DaemonAccess) {
        self.request = request
        self.destination = destination
        self.daemon = daemon
    }

    func run(_ writer: RequestWriter, _ body: BodyArgument?) throws(Failure) -> ExitCode {
        let pending = try submit(writer)
        if case .stream(let source)? = body { try pending.sendBody(source, ProgressMeter(isSilent: request.isSilent)) }
        return try complete(pending)
    }

    /// Submits the download.
    func submit(_ writer: RequestWriter) throws(Failure) -> PendingRequest {
        let token = request.resumes ? destination.note.resumeData : nil
        return try PendingRequest(daemon, writer) { json in
            json.member("kind", static: "download")
            destination.write(to: &json, failsOnStatus: request.failsOnStatus)
            json.member("resume_data", token)
            if request.failsOnStatus { json.member("validate", true) }
        }
    }

    /// Waits until it has ended.
    func complete(_ pending: PendingRequest) throws(Failure) -> ExitCode {
        let record = try watch(pending, Interruption())
        // A failed one too, unless it can be resumed: to dismiss it would delete what has arrived.
        defer { if record["resume_data"]?.string == nil { pending.dismiss() } }
        if request.isVerbose { Report(record).printToStandardError() }
        defer { request.writeOut?.print(CurlReport(record, request)) }
        guard let jar = request.cookies.jar else {
            try settle(record)
            return .success
        }
        try CookieOutput(jar, pending).after(record) { () throws(Failure) in try settle(record) }
        return .success
    }

    /// Waits until the request has finished and returns its record.
    private func watch(_ pending: PendingRequest, _ interruption: Interruption) throws(Failure) -> JSON {
        var meter = ProgressMeter(isSilent: request.isSilent)
        var isKept = false
        while true {
            let record = try poll(pending, isResumable: isKept)
            let isOver = record["finished"]?.bool != false
            meter.show(record: record, isOver: isOver)
            if isOver { return record }
            // Stored early, in case this process or the daemon is killed.
            if !isKept, let token = record["resume_data"]?.string { isKept = destination.note.save(token) }
            guard let signal = interruption.signal else { continue }
            let left = try pending.call("request.cancel") { $0.member("resume_data", true) }["resume_data"]?.string
            if let left { destination.note.save(left) } else { destination.note.delete() }
            meter.clear()
            Interruption.end(by: signal)
        }
    }

    /// Asks for the record; a download whose daemon has died can be resumed.
    private func poll(_ pending: PendingRequest, isResumable: Bool) throws(Failure) -> JSON {
        do throws(Failure) {
            return try pending.poll(milliseconds: ProgressMeter.milliseconds)
        } catch {
            guard isResumable, error.code == .unreachable else { throw error }
            var failure = error
            failure.hint = DownloadRunner.resumingHint
            throw failure
        }
    }

    private static let resumingHint = "use -C - to resume"

    private func settle(_ record: JSON) throws(Failure) {
        var isResumable = false
        if let left = record["resume_data"]?.string {
            isResumable = destination.note.save(left)
        } else {
            destination.note.delete()
        }
        do throws(Failure) {
            try Outcome(record, request).check()
        } catch {
            var failure = error
            if isResumable { failure.hint = DownloadRunner.resumingHint }
            throw failure
        }
    }
}
