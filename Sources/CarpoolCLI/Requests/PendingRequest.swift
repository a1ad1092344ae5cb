internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// A submitted request, which the daemon cancels when the command ends.
struct PendingRequest {
    private let daemon: DaemonAccess
    /// The request's id.
    let id: String

    /// The timeout of one call of `request.wait`, in milliseconds.
    private static let pollMilliseconds = 60_000

    /// Submits a request, with descriptors that it refers to; the closure adds members.
    init(
        _ daemon: DaemonAccess, _ writer: RequestWriter, passing descriptors: PassedDescriptors = .none,
        and more: (inout JSONWriter) -> Void = { _ in }
    ) throws(Failure) {
        let answer = try daemon.call("request.submit", passing: descriptors) { json in
            writer.write(to: &json) { json in
                json.member("on_disconnect", static: "cancel")
                more(&json)
            }
        }
        self.init(daemon, id: answer["request"]?.string ?? "")
    }

    init(_ daemon: DaemonAccess, id: String) {
        self.daemon = daemon
        self.id = id
    }

    /// Calls a method with the request as its first parameter.
    func call(_ method: String, _ more: (inout JSONWriter) -> Void = { _ in }) throws(Failure) -> JSON {
        try daemon.call(method) { writer in
            writer.beginObject()
            writer.member("request", id)
            more(&writer)
            writer.endObject()
        }
    }

    /// Sends the body, until the daemon refuses more of it, and shows how much of it was sent.
    func sendBody(_ source: StreamedBody, _ meter: inout ProgressMeter) throws(Failure) {
        var sent: Int64 = 0
        do throws(Failure) {
            while let piece = try next(of: source, &meter) {
                if meter.isShown {
                    meter.take(sent: sent, of: source.lengthBytes)
                    meter.show()
                    sent += Int64(piece.count)
                }
                try put(piece, &meter)
            }
            // A body of known length has ended with its last byte.
            if source.lengthBytes == nil { _ = try call("body.put") { $0.member("end", true) } }
        } catch {
            // The request has finished, or does so now; its record says why.
            guard error.code == .refused else { throw error }
        }
    }

    /// Sends a piece. The daemon answers when it has room for the next one.
    private func put(_ piece: ArraySlice<UInt8>, _ meter: inout ProgressMeter) throws(Failure) {
        func write(to writer: inout JSONWriter) {
            writer.key("base64")
            piece.withUnsafeBytes { writer.base64($0) }
        }
        guard meter.isShown else {
            _ = try call("body.put", write)
            return
        }
        try daemon.begin("body.put", passing: .none) { writer in
            writer.beginObject()
            writer.member("request", id)
            write(to: &writer)
            writer.endObject()
        }
        while true {
            let deadline = MonotonicTime.read().advanced(milliseconds: ProgressMeter.milliseconds)
            if deadline.waitForInput(daemon.descriptor) {
                for case .answer in try daemon.receive() { return }
            }
            meter.show()
        }
    }

    private func next(
        of source: StreamedBody, _ meter: inout ProgressMeter
    ) throws(Failure) -> ArraySlice<UInt8>? {
        while meter.isShown, !source.waitForInput(milliseconds: ProgressMeter.milliseconds) { meter.show() }
        do throws(SystemError) { return try source.nextPiece() } catch {
            // The daemon ends the request at the same limit, and its record says so.
            if error.code == ETIME { throw Failure(.refused, "\(error)") }
            throw Failure(.usage, "cannot read the body: \(error)")
        }
    }

    /// Waits until the request has finished and returns its record.
    func wait(_ meter: consuming ProgressMeter = ProgressMeter(isSilent: true)) throws(Failure) -> JSON {
        var meter = meter
        defer { meter.clear() }
        while true {
            let record = try poll(
                milliseconds: meter.isShown ? ProgressMeter.milliseconds : PendingRequest.pollMilliseconds)
            if record["finished"]?.bool != false { return record }
            meter.take(record: record)
            meter.show()
        }
    }

    /// Waits until the request has finished, with a timeout, and returns its current record.
    func poll(milliseconds: Int) throws(Failure) -> JSON {
        try call("request.wait") { $0.member("timeout_ms", milliseconds) }
    }

    /// Removes the request from the daemon. If that fails, the daemon removes it later.
    func dismiss() { _ = try? call("request.dismiss") }
}
