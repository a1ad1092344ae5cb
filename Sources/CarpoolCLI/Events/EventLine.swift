internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// Formats an event on one line: the time of day in UTC, the request, the type, and the most important data.
struct EventLine {
    private let event: JSON

    init(_ event: JSON) { self.event = event }

    /// The line. Colours are those of ECMA-48 (SGR).
    func text(isColoured: Bool = false) -> String {
        let columns = [
            EventLine.padded(time, 12), EventLine.padded(EventLine.plain(event["request"]?.string ?? ""), 12),
            EventLine.padded(EventLine.plain(event["type"]?.string ?? "?"), 32),
        ]
        var line = columns.joined(separator: "  ")
        let rest = details
        if !rest.isEmpty { line += "  " + rest.joined(separator: " ") }
        while line.last == " " { line.removeLast() }
        guard isColoured, let colour else { return line }
        return "\u{1B}[\(colour)m\(line)\u{1B}[0m"
    }

    /// `10:00:00.123` of `2026-09-30T10:00:00.123456Z`.
    private var time: String {
        let time = event["time"]?.string ?? ""
        guard let start = time.firstIndex(of: "T") else { return "" }
        return EventLine.plain(String(time[time.index(after: start)...].prefix(12)))
    }

    /// Red for failures, yellow for warnings.
    private var colour: Int? {
        let data = event["data"]
        if data?["error"] != nil || data?["ok"]?.bool == false { return 31 }
        switch event["type"]?.string {
        case "lagged", "gap", "subscription.closed", "daemon.draining", "request.is_retrying": return 33
        case "reachability.changed": return data?["reachability"]?["status"]?.isString("satisfied") == true ? 32 : 31
        default: return nil
        }
    }

    private var details: [String] {
        var parts: [String] = []
        if let session = event["session"]?.string, session != "default" {
            parts.append("[\(EventLine.plain(session))]")
        }
        if let attempt = event["attempt"]?.integer, attempt > 1 { parts.append("#\(attempt)") }
        event["data"]?.forEachMember { name, value in
            if let part = EventLine.part(name, value) { parts.append(part) }
        }
        return parts
    }

    /// A short form of a member; `nil` if there is none.
    private static func part(_ name: String, _ value: JSON) -> String? {
        switch (name, value.kind) {
        case ("method", .string), ("url", .string), ("state", .string): return plain(value.string ?? "")
        case ("error", .object):
            return "\(plain(value["name"]?.string ?? "")): \(plain(value["message"]?.string ?? ""))"
        case ("response", .object): return value["status"]?.int.map { "status=\($0)" }
        case ("reachability", .object):
            let over = value["interface"]?.string.map { " over \($0)" } ?? ""
            let reason = value["unsatisfied_reason"]?.string.map { ": \($0)" } ?? ""
            return plain((value["status"]?.string ?? "") + over + reason)
        // A token is useful only to programs, and long.
        case ("resume_data", _): return nil
        case ("requests", .array): return "requests=\(value.count)"
        case (_, .string): return "\(plain(name))=\(plain(value.string ?? ""))"
        case (_, .integer): return value.integer.map { measure(name, $0) }
        case (_, .bool): return "\(plain(name))=\(value.bool == true)"
        default: return nil
        }
    }

    private static func measure(_ name: String, _ number: Int64) -> String {
        if name.hasSuffix("_bytes") { return "\(plain(String(name.dropLast(6))))=\(ProgressLine.size(Double(number)))" }
        if name.hasSuffix("_us") { return "\(plain(String(name.dropLast(3))))=\(milliseconds(number))" }
        return "\(plain(name))=\(number)"
    }

    private static func milliseconds(_ microseconds: Int64) -> String {
        "\(microseconds / 1_000).\(abs(microseconds % 1_000) / 100)ms"
    }

    private static func plain(_ text: String) -> String { PlainText.escaped(text) }

    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
