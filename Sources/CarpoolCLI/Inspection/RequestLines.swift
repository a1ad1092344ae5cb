internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// The lines of `carpool watch`: one for each request, when it has ended. A value: events in, lines out.
struct RequestLines {
    /// What is known of a request that has not ended.
    private struct Begun {
        var method = "?"
        var url = "?"
        /// Microseconds since 1970.
        var began: Int64?
        /// How its last response came.
        var source: String?
        /// The name of its client.
        var client = ""
    }

    /// The types of events that the lines are made of.
    static let types = ["request.did_resume", "request.did_gather_metrics", "request.did_finish"]
    /// The columns of a terminal from which on lines have the client's name.
    static let columnsWithClient = 120
    /// The columns of a terminal from which on lines have the size and the source, so that most URLs have room.
    static let columnsWithSize = 80
    /// The columns from which on they have the method, the duration and the fractions of a second.
    static let columnsWithMethod = 60
    /// The requests that are remembered until they end; of any more the oldest are forgotten, and have no URL then.
    static let maximumBegun = 4_096

    /// The width of the lines.
    var columns: Columns
    private let isColoured: Bool
    private var begun: [String: Begun] = [:]
    /// The names in ``begun`` in order, with some that have ended.
    private var order: [String] = []

    init(_ columns: Columns, isColoured: Bool) {
        self.columns = columns
        self.isColoured = isColoured
    }

    /// The heading of a terminal.
    var heading: String {
        let isNarrow = columns.width ?? RequestLines.columnsWithSize < RequestLines.columnsWithMethod
        let cells = [isNarrow ? "UTC" : "TIME (UTC)", "STATUS", "METHOD", "DURATION", "SIZE", "FROM"]
        return columns.fitting(row(cells, "CLIENT") + "URL")
    }

    /// Takes entries of `request.list`, of requests that run already; returns their lines.
    mutating func take(running entries: [JSON]) -> [String] {
        var lines: [String] = []
        for entry in entries {
            guard let name = entry["request"]?.string else { continue }
            var request = Begun()
            request.method = entry["method"]?.string ?? "?"
            request.url = entry["url"]?.string ?? "?"
            request.began = entry["created"]?.string.flatMap(RequestTable.microseconds)
            request.client = entry["client"]?.string ?? ""
            remember(name, request)
            let cells = [
                RequestLines.time(entry["created"]), RequestTable.state(of: entry), request.method, "", "", "",
            ]
            lines.append(line(cells, request, nil))
        }
        return lines
    }

    /// The request of an event that ends it, if its beginning is not known.
    func unknown(in event: JSON) -> String? {
        guard event["type"]?.isString("request.did_finish") == true, let name = event["request"]?.string else {
            return nil
        }
        return begun[name]?.url ?? "?" == "?" ? name : nil
    }

    /// Takes the record of a request whose beginning is not known.
    mutating func take(record: JSON, of name: String) {
        var request = begun[name] ?? Begun()
        request.method = record["method"]?.string ?? request.method
        request.url = record["url"]?.string ?? request.url
        request.began = request.began ?? record["metrics"]?["start"]?.string.flatMap(RequestTable.microseconds)
        remember(name, request)
    }

    /// Takes an event; returns the line of a request that has ended.
    mutating func take(_ event: JSON) -> String? {
        guard let name = event["request"]?.string, let data = event["data"] else { return nil }
        switch event["type"]?.string {
        case "request.did_resume":
            var request = begun[name] ?? Begun()
            request.method = data["method"]?.string ?? request.method
            request.url = data["url"]?.string ?? request.url
            request.began = request.began ?? event["time"]?.string.flatMap(RequestTable.microseconds)
            remember(name, request)
        case "request.did_gather_metrics":
            var request = begun[name] ?? Begun()
            request.source = RequestLines.source(of: data)
            remember(name, request)
        case "request.did_finish":
            var request = begun.removeValue(forKey: name) ?? Begun()
            request.client = data["client_name"]?.string ?? request.client
            return line(of: event, data, request)
        default: break
        }
        return nil
    }

    private mutating func remember(_ name: String, _ request: Begun) {
        guard begun.updateValue(request, forKey: name) == nil else { return }
        order.append(name)
        guard order.count >= 2 * RequestLines.maximumBegun else { return }
        order.removeAll { begun[$0] == nil }
        for forgotten in order.prefix(max(0, order.count - RequestLines.maximumBegun)) { begun[forgotten] = nil }
        order.removeFirst(max(0, order.count - RequestLines.maximumBegun))
    }

    /// Whether the last response came over a new connection, over one that was there, or without any.
    private static func source(of data: JSON) -> String? {
        let metrics = data["metrics"]
        guard let hop = metrics?[index: (metrics?.count ?? 0) - 1] else { return nil }
        guard hop["connection"]?.int != nil else { return hop["status"]?.int == nil ? nil : "cache" }
        return hop["reused"]?.bool == true ? "reused" : "new"
    }

    private func line(of event: JSON, _ data: JSON, _ request: Begun) -> String {
        let end = event["time"]?.string.flatMap(RequestTable.microseconds)
        let duration = request.began.flatMap { began in end.map { max(0, $0 - began) } }
        let size = data["size_bytes"]?.integer ?? 0
        let error: String? = data["error"]?["message"]?.string ?? data["error"]?["name"]?.string
        let cells = [
            RequestLines.time(event["time"]), RequestLines.state(of: data), request.method,
            duration.map(RequestLines.duration) ?? "", ProgressLine.size(Double(size)), request.source ?? "",
        ]
        return line(cells, request, error)
    }

    /// The status, or what happened instead.
    private static func state(of data: JSON) -> String {
        if data["state"]?.isString("cancelled") == true { return "cancelled" }
        let status = data["status"]?.int.map(String.init)
        // A failure after a response, as of a body that was cut, is no success.
        return data["error"] == nil ? status ?? "finished" : "failed"
    }

    private func line(_ cells: [String], _ request: Begun, _ error: String?) -> String {
        let row = row(cells, request.client)
        let url = PlainText.escaped(request.url)
        let text = columns.fitting(row + withReason(url, error, after: Columns.count(row)))
        guard isColoured, cells[1] == "failed" || cells[1] >= "400" && cells[1] < "600" else { return text }
        return "\u{1B}[31m\(text)\u{1B}[0m"
    }

    /// A URL and the reason of a failure. On a terminal neither takes all of the line from the other.
    private func withReason(_ url: String, _ error: String?, after used: Int) -> String {
        guard let error else { return url }
        let reason = PlainText.escaped(error)
        guard let width = columns.width else { return "\(url)  \(reason)" }
        let room = max(0, width - used - 2)
        let part = max(room / 2, room - Columns.count(reason))
        return "\(columns.cut(url, part))  \(reason)"
    }

    /// The cells before the URL: the time, the status, the method, the duration, the size, where the response came
    /// from, and on a wide terminal the client. On a narrow one some are left out.
    private func row(_ cells: [String], _ client: String) -> String {
        let width = columns.width ?? RequestLines.columnsWithSize
        guard width >= RequestLines.columnsWithMethod else {
            return "\(RequestLines.padded(String(cells[0].prefix(8)), 8)) \(RequestLines.padded(cells[1], 9)) "
        }
        let left = zip(cells, [12, 9, 6]).map { RequestLines.padded($0, $1) }
        let right = zip(cells[3...], [10, 9]).map { String(repeating: " ", count: max(0, $1 - $0.count)) + $0 }
        guard width >= RequestLines.columnsWithSize else {
            return (left + right.prefix(1)).joined(separator: " ") + " "
        }
        var row = left + right + [RequestLines.padded(cells[5], 6)]
        if columns.width ?? 0 >= RequestLines.columnsWithClient {
            row.append(RequestLines.padded(columns.cut(PlainText.escaped(client), 14), 14))
        }
        return row.joined(separator: " ") + " "
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        let text = PlainText.escaped(text)
        return text + String(repeating: " ", count: max(0, width - Columns.count(text)))
    }

    private static func time(_ time: JSON?) -> String {
        let time = time?.string ?? ""
        guard let start = time.firstIndex(of: "T") else { return "" }
        return String(time[time.index(after: start)...].prefix(12))
    }

    /// `12.3 ms`, or a longer span in its own unit.
    private static func duration(_ microseconds: Int64) -> String {
        microseconds < 10_000_000
            ? Waterfall.milliseconds(microseconds) : TimeSpan.text(milliseconds: microseconds / 1_000)
    }
}
