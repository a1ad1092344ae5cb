internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// A request under way that ends with this command.
struct PendingRequest {
    private let daemon: DaemonAccess
    /// Its id.
    let id: String

    /// The longest that the daemon waits before it says that there is nothing yet, in milliseconds.
    private static let pollMilliseconds = 60_000

    /// Submits it; the closure adds members of its own.
    init(
        _ daemon: DaemonAccess, _ writer: RequestWriter, and more: (inout JSONWriter) -> Void = { _ in }
    ) throws(Failure) {
        let answer = try daemon.call("request.submit") { json in
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

    /// Calls a method of which the request is the first parameter.
    func call(_ method: String, _ more: (inout JSONWriter) -> Void = { _ in }) throws(Failure) -> JSON {
        try daemon.call(method) { writer in
            writer.beginObject()
            writer.member("request", id)
            more(&writer)
            writer.endObject()
        }
    }

    /// Gives it the body. One that it does not want to its end is not read to its end.
    func feed(_ source: StreamedBody) throws(Failure) {
        do throws(Failure) {
            while let piece = try next(of: source) {
                _ = try call("body.put") { writer in
                    writer.key("base64")
                    piece.withUnsafeBytes { writer.base64($0) }
                }
            }
            _ = try call("body.put") { $0.member("end", true) }
        } catch {
            // It is over: its record tells why.
            guard error.code == .refused else { throw error }
        }
    }

    private func next(of source: StreamedBody) throws(Failure) -> ArraySlice<UInt8>? {
        do throws(SystemError) { return try source.nextPiece() } catch {
            throw Failure(.usage, "cannot read the body: \(error)")
        }
    }

    /// Waits until it is over and gives its record.
    func wait() throws(Failure) -> JSON {
        while true {
            let record = try look(milliseconds: PendingRequest.pollMilliseconds)
            if record["finished"]?.bool != false { return record }
        }
    }

    /// Waits for its end, but so long at most, and gives what is known.
    func look(milliseconds: Int) throws(Failure) -> JSON {
        try call("request.wait") { $0.member("timeout_ms", milliseconds) }
    }

    /// Has the daemon forget it. Should that fail, the daemon does so by itself in time.
    func dismiss() { _ = try? call("request.dismiss") }
}
