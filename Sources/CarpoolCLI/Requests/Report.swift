internal import CarpoolCaller
internal import CarpoolJSON

/// The report of `-v`: each hop with its connection and its times.
struct Report {
    private let record: JSON

    init(_ record: JSON) { self.record = record }

    func printToStandardError() {
        Terminal.printError("* request \(record["request"]?.string ?? "?"), \(record["state"]?.string ?? "?")")
        record["attempts"]?.forEachElement { attempt in
            attempt["metrics"]?.forEachElement { Terminal.printError(Report.line(of: $0)) }
            Report.printFields(of: attempt)
        }
        if let cache = record["cache"] { Terminal.printError(Report.line(ofCache: cache)) }
    }

    /// Fields whose values are not printed.
    private static let secrets: [StaticString] = ["authorization", "proxy-authorization", "cookie", "set-cookie"]

    /// Prints the fields of the request and of the response, as curl's `-v` does. Those of a redirect are not in the
    /// record.
    private static func printFields(of attempt: JSON) {
        if let request = attempt["request"] {
            Terminal.printError("> \(request["method"]?.string ?? "?") \(request["url"]?.string ?? "?")")
            printFields(request["headers"], after: ">")
        }
        guard let response = attempt["response"], let status = response["status"]?.int else { return }
        Terminal.printError("< \(response["http_version"]?.string ?? "?") \(status)")
        printFields(response["headers"], after: "<")
    }

    private static func printFields(_ fields: JSON?, after mark: String) {
        fields?.forEachElement { field in
            let name = field[index: 0]?.string ?? "?"
            let isSecret = secrets.contains { name.lowercased() == "\($0)" }
            let value = isSecret ? "(hidden)" : field[index: 1]?.fieldText ?? ""
            Terminal.printError("\(mark) \(name): \(value)")
        }
    }

    private static func line(of hop: JSON) -> String {
        var parts: [String] = []
        if let url = hop["url"]?.string { parts.append(url) }
        if let status = hop["status"]?.int { parts.append("status \(status)") }
        if let version = hop["http_version"]?.string { parts.append(version) }
        if let connection = hop["connection"]?.integer {
            let reason = hop["new_connection"]?.string.map { " (\($0))" } ?? ""
            parts.append("connection \(connection) \(hop["reused"]?.bool == true ? "reused" : "new\(reason)")")
        }
        if let remote = hop["remote"]?.string { parts.append("to \(remote)") }
        if let proxy = hop["proxy"]?.string { parts.append("proxy \(proxy)") }
        if let tls = hop["tls"]?["version"]?.string { parts.append(tls) }
        for (name, label) in Report.times {
            if let time = hop[name]?.integer { parts.append("\(label) \(milliseconds(time))") }
        }
        if let bytes = hop["response_body_bytes"]?.integer { parts.append("\(bytes) bytes") }
        return "* " + parts.joined(separator: ", ")
    }

    /// `* cache hit (fresh), 12 s old, fresh for 48 s`
    static func line(ofCache cache: JSON) -> String {
        var parts = ["cache \(cache["status"]?.string ?? "?") (\(cache["reason"]?.string ?? "?"))"]
        if let age = cache["age_ms"]?.integer { parts.append("\(TimeSpan.text(milliseconds: age)) old") }
        if let left = cache["ttl_ms"]?.integer {
            parts.append("\(left < 0 ? "stale" : "fresh") for \(TimeSpan.text(milliseconds: left))")
        }
        if cache["stored"]?.bool == true { parts.append("stored") }
        return "* " + parts.joined(separator: ", ")
    }

    private static let times: [(StaticString, String)] = [
        ("queued_us", "queued"), ("dns_us", "name"), ("connect_us", "connected"), ("tls_us", "secured"),
        ("first_byte_us", "first byte"), ("end_us", "end"),
    ]

    private static func milliseconds(_ microseconds: Int64) -> String {
        let tenths = microseconds / 100
        return "\(tenths / 10).\(abs(tenths % 10)) ms"
    }
}
