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
        let download = try submit(writer)
        var meter = request.meter
        if case .stream(let source)? = body { try download.request.sendBody(source, &meter) }
        let record = try watch(download, &meter, Interruption())
        meter.finish(record)
        return try finish(download, record)
    }

    /// Submits the download.
    func submit(_ writer: RequestWriter) throws(Failure) -> PendingDownload {
        let token = request.resumes ? destination.note.resumeData : nil
        let pending = try PendingRequest(daemon, writer) { json in
            json.member("kind", static: "download")
            destination.write(to: &json, failsOnStatus: request.failsOnStatus)
            json.member("resume_data", token)
            if request.failsOnStatus { json.member("validate", true) }
        }
        return PendingDownload(pending, destination.note)
    }

    /// Prints what a download that has ended says, and stores what resumes it.
    func finish(_ download: PendingDownload, _ record: JSON) throws(Failure) -> ExitCode {
        // A failed one too, unless it can be resumed: to dismiss it would delete what has arrived.
        defer { if record["resume_data"]?.string == nil { download.request.dismiss() } }
        if request.isVerbose { Report(record).printToStandardError() }
        defer { request.writeOut?.print(CurlReport(record, request)) }
        guard let jar = request.cookies.jar else {
            try settle(download, record)
            return .success
        }
        try CookieOutput(jar, download.request).after(record) { () throws(Failure) in try settle(download, record) }
        return .success
    }

    /// Waits until the request has finished and returns its record.
    private func watch(
        _ download: PendingDownload, _ meter: inout ProgressMeter, _ interruption: Interruption
    ) throws(Failure) -> JSON {
        while true {
            let record = try poll(download)
            if record["finished"]?.bool != false { return record }
            meter.take(record: record)
            meter.show()
            download.take(record)
            guard let signal = interruption.signal else { continue }
            try download.interrupt()
            meter.clear()
            Interruption.end(by: signal)
        }
    }

    /// Asks for the record; a download whose daemon has died can be resumed.
    private func poll(_ download: PendingDownload) throws(Failure) -> JSON {
        do throws(Failure) {
            return try download.request.poll(milliseconds: ProgressMeter.milliseconds)
        } catch {
            throw failure(of: download, error, if: error.code == .unreachable)
        }
    }

    private func settle(_ download: PendingDownload, _ record: JSON) throws(Failure) {
        download.settle(record)
        do throws(Failure) {
            try Outcome(record, request).check()
        } catch {
            throw failure(of: download, error, if: true)
        }
    }

    /// The failure, with a hint if the download can be resumed.
    private func failure(of download: PendingDownload, _ failure: Failure, if isHinted: Bool) -> Failure {
        var failure = failure
        if isHinted, download.isResumable {
            failure.hint = request.isOneOfSeveral ? DownloadRunner.hintOfSeveral : "use -C - to resume"
        }
        return failure
    }

    /// How downloads of a command with several URLs are resumed.
    static let hintOfSeveral = "use -C - to resume, with one URL in each command"
}
