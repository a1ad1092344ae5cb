internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// The text of `carpool show`: what a request is, and when its steps happened.
struct RequestSheet {
    private let record: JSON
    private let entry: JSON?
    private let columns: Columns

    /// - Parameters:
    ///   - record: the whole record, from `request.get`.
    ///   - entry: its entry in `request.list`, if it has one.
    init(_ record: JSON, _ entry: JSON?, _ columns: Columns) {
        self.record = record
        self.entry = entry
        self.columns = columns
    }

    var lines: [String] {
        var lines = head.map { columns.fitting(PlainText.escaped($0)) }
        var first: Int64?
        var hops: [(hop: JSON, offset: Int64)] = []
        record["attempts"]?.forEachElement { attempt in
            attempt["metrics"]?.forEachElement { hop in
                let start = RequestSheet.start(of: hop)
                let origin = first ?? start
                first = origin
                hops.append((hop: hop, offset: max(Int64(0), start - origin)))
            }
        }
        var total: Int64 = 0
        for (hop, offset) in hops { total = max(total, offset + Int64(hop["end_us"]?.int ?? 0)) }
        let waterfall = Waterfall(columns, total: total)
        for (hop, offset) in hops {
            lines.append("")
            lines.append(columns.fitting(PlainText.escaped(RequestSheet.title(of: hop))))
            lines += waterfall.lines(Waterfall.steps(of: hop, after: offset))
        }
        return lines
    }

    private var head: [String] {
        let method: String = record["method"]?.string ?? entry?["method"]?.string ?? "?"
        let url: String = record["url"]?.string ?? entry?["url"]?.string ?? "?"
        var lines = ["\(record["request"]?.string ?? "?")  \(method) \(url)"]
        let state = entry.map(RequestTable.state) ?? record["state"]?.string ?? "?"
        var parts = [state]
        // The state of one that has ended well is its status.
        if let status = record["response"]?["status"]?.int, state != "\(status)" { parts.append("status \(status)") }
        if let received { parts.append(received) }
        if let size = record["body"]?["size_bytes"]?.int { parts.append(ProgressLine.size(Double(size))) }
        if let time = record["metrics"]?["duration_us"]?.int { parts.append(Waterfall.milliseconds(Int64(time))) }
        if let retries = record["retry_count"]?.int, retries > 0 {
            parts.append(retries == 1 ? "1 retry" : "\(retries) retries")
        }
        lines.append("state    \(parts.joined(separator: ", "))")
        if let client = entry?["client"]?.string { lines.append("client   \(client)") }
        if let session = entry?["session"]?.string { lines.append("session  \(session)") }
        if let error = record["outcome"]?["error"] {
            lines.append("error    \(error["name"]?.string ?? "?"): \(error["message"]?.string ?? "")")
            if let hint = error["hint"]?.string { lines.append("hint     \(hint)") }
        }
        if let cache = record["cache"] { lines.append(Report.line(ofCache: cache)) }
        return lines
    }

    /// How much of the body a running request has received.
    private var received: String? {
        guard record["finished"]?.bool == false, let bytes = record["received_bytes"]?.int else { return nil }
        let text = ProgressLine.size(Double(bytes))
        return record["total_bytes"]?.int.map { "\(text) of \(ProgressLine.size(Double($0)))" } ?? text
    }

    /// When a hop began, in microseconds since 1970.
    private static func start(of hop: JSON) -> Int64 {
        guard let text = hop["fetch_start"]?.string, let time = RequestTable.microseconds(text) else { return 0 }
        return time
    }

    private static func title(of hop: JSON) -> String {
        var parts = [hop["url"]?.string ?? "?"]
        if let status = hop["status"]?.int { parts.append("status \(status)") }
        if let version = hop["http_version"]?.string { parts.append(version) }
        if let connection = hop["connection"]?.int {
            parts.append("connection \(connection) \(hop["reused"]?.bool == true ? "reused" : "new")")
        }
        if let remote = hop["remote"]?.string { parts.append("to \(remote)") }
        return parts.joined(separator: ", ")
    }
}
