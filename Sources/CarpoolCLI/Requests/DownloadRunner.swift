internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// `-o FILE`: the daemon writes the file, and this waits, shows how far it is, and keeps what it takes to go on.
struct DownloadRunner {
    private let request: RequestArguments
    private let place: DownloadPlace
    private let daemon: DaemonAccess
    private let start = MonotonicTime.read()

    /// How often the progress is looked at, in milliseconds.
    private static let pollMilliseconds = 200

    init(_ request: RequestArguments, _ place: DownloadPlace, _ daemon: DaemonAccess) {
        self.request = request
        self.place = place
        self.daemon = daemon
    }

    func run(_ writer: RequestWriter, _ body: BodyArgument?) throws(Failure) -> ExitCode {
        let token = request.resumes ? place.resumeData : nil
        let pending = try PendingRequest(daemon, writer) { json in
            json.member("kind", static: "download")
            place.write(to: &json, failsOnStatus: request.failsOnStatus)
            json.member("resume_data", token)
            if request.failsOnStatus { json.member("validate", true) }
        }
        if case .stream(let source)? = body { try pending.feed(source) }
        let record = try watch(pending, Interruption())
        if request.isVerbose { Report(record).complain() }
        try settle(record, pending)
        return .success
    }

    /// Waits for the end.
    private func watch(_ pending: PendingRequest, _ interruption: Interruption) throws(Failure) -> JSON {
        let meter = ProgressMeter(isSilent: request.isSilent)
        var isKept = false
        while true {
            let record = try pending.look(milliseconds: DownloadRunner.pollMilliseconds)
            let isOver = record["finished"]?.bool != false
            meter.show(record, microseconds: MonotonicTime.read().microseconds(since: start), isOver: isOver)
            if isOver { return record }
            // Should we be killed, or the daemon. What goes on from here may have more than the note says.
            if !isKept, let token = record["resume_data"]?.string {
                place.keep(token)
                isKept = true
            }
            guard let signal = interruption.signal else { continue }
            let left = try pending.call("request.cancel") { $0.member("resume_data", true) }["resume_data"]?.string
            if let left { place.keep(left) } else { place.forget() }
            meter.clear()
            Interruption.end(by: signal)
        }
    }

    private func settle(_ record: JSON, _ pending: PendingRequest) throws(Failure) {
        let left = record["resume_data"]?.string
        if let left { place.keep(left) } else { place.forget() }
        do throws(Failure) {
            try Outcome(record, request).check()
        } catch {
            var failure = error
            if left != nil { failure.hint = "-C - goes on from here" }
            throw failure
        }
        pending.dismiss()
    }
}
