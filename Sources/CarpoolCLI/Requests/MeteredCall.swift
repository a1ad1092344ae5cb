internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// A call of `request.perform` that shows the progress until its answer.
struct MeteredCall {
    private let daemon: DaemonAccess
    private var meter: ProgressMeter
    private let query: ProgressQuery

    init(_ request: RequestArguments, _ daemon: DaemonAccess) {
        meter = request.meter
        query = ProgressQuery(socket: request.socket)
        self.daemon = daemon
    }

    /// Whether the progress of a request is shown.
    static func shows(_ request: RequestArguments) -> Bool { request.meter.isShown }

    /// Returns the record. The closure writes the parameters, with the events of a ``ProgressMeter`` and
    /// ``writeKind(to:of:)`` among them.
    mutating func perform(
        passing descriptors: PassedDescriptors = .none, _ params: (inout JSONWriter) -> Void
    ) throws(Failure) -> JSON {
        defer { meter.clear() }
        try daemon.begin("request.perform", passing: descriptors, params)
        while true {
            let deadline = MonotonicTime.read().advanced(milliseconds: ProgressMeter.milliseconds)
            if deadline.waitForInput([daemon.descriptor], orLossOf: []) != nil {
                for message in try daemon.receive() {
                    switch message {
                    case .answer(let record): return record
                    case .event(let event): meter.take(event)
                    }
                }
            } else {
                query.update(&meter)
            }
            meter.show(isOutputFull: descriptors.count > 0 && ProgressQuery.isOutputFull)
        }
    }

    /// Writes the kind of the request: only an upload reports what was sent.
    static func writeKind(to json: inout JSONWriter, of request: RequestArguments) {
        if request.body != nil { json.member("kind", static: "upload") }
    }
}
