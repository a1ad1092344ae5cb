internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// Formats answers about the cache.
enum CacheReport {
    // MARK: Lists

    /// The heading of a list.
    static let heading = row("STATUS", "SIZE", "AGE", "FRESH FOR", "HITS", "WHERE", "URL")

    /// The line of a stored response in a list.
    static func line(of entry: JSON) -> String {
        row(
            "\(entry["status"]?.int ?? 0)", size(entry["size_bytes"]), age(entry), freshness(entry),
            "\(entry["hits"]?.integer ?? 0)", entry["where"]?.string ?? "?", entry["url"]?.string ?? "?")
    }

    private static func row(
        _ status: String, _ size: String, _ age: String, _ fresh: String, _ hits: String, _ place: String, _ url: String
    ) -> String {
        let columns = [(status, 6), (size, 9), (age, 7), (fresh, 11), (hits, 5), (place, 7)]
        let text = columns.map { padded($0.0, $0.1) }.joined(separator: " ")
        return PlainText.escaped("\(text) \(url)")
    }

    private static func freshness(_ entry: JSON) -> String {
        guard let left = entry["fresh_for_ms"]?.integer else { return "-" }
        return left < 0 ? "stale" : TimeSpan.text(milliseconds: left)
    }

    private static func age(_ entry: JSON) -> String { TimeSpan.text(milliseconds: entry["age_ms"]?.integer ?? 0) }

    private static func size(_ bytes: JSON?) -> String { ProgressLine.size(Double(bytes?.integer ?? 0)) }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    // MARK: Explanations

    /// The answer of `cache.get` for a URL, in lines.
    static func explanation(of answer: JSON, for url: String) -> [String] {
        let reason = "(\(answer["reason"]?.string ?? "?")): \(answer["explanation"]?.string ?? "")"
        var lines = [url, "  \(effect(answer["would"]?.string ?? "")) \(reason)"]
        guard let entry = answer["entry"] else { return lines.map(PlainText.escaped) }
        var parts = ["status \(entry["status"]?.int ?? 0)", size(entry["size_bytes"]), "\(age(entry)) old"]
        if let left = entry["fresh_for_ms"]?.integer {
            let span = TimeSpan.text(milliseconds: left)
            parts.append(left < 0 ? "stale for \(span)" : "fresh for \(span)")
        }
        if let tag = entry["validators"]?["etag"]?.string { parts.append("ETag \(tag)") }
        if let date = entry["validators"]?["last_modified"]?.string { parts.append("Last-Modified \(date)") }
        let fields = (0..<(entry["vary"]?.count ?? 0)).compactMap { entry["vary"]?[index: $0]?.string }
        if !fields.isEmpty { parts.append("depends on \(fields.joined(separator: ", "))") }
        let hits = entry["hits"]?.integer ?? 0
        parts.append(hits == 1 ? "used once" : "used \(hits) times")
        parts.append(entry["where"]?.isString("disk") == true ? "on disk" : "in memory")
        lines.append("  stored: \(parts.joined(separator: ", "))")
        if let location = entry["location"]?.string { lines.append("  redirects to \(location)") }
        return lines.map(PlainText.escaped)
    }

    private static func effect(_ would: String) -> String {
        switch would {
        case "serve": "would be served from the cache"
        case "revalidate": "the server would be asked whether the stored response is still valid"
        case "forward": "the server would be asked"
        case "fail": "would fail without asking the server"
        default: would
        }
    }

    // MARK: Counts

    /// What `cache.purge` did.
    static func purge(_ answer: JSON, isSoft: Bool) -> String {
        let count = answer["purged"]?.integer ?? 0
        let responses = "\(count == 0 ? "no" : "\(count)") stored response\(count == 1 ? "" : "s")"
        return isSoft ? "marked \(responses) as stale" : "removed \(responses)"
    }

    /// The lines about a store in the answer of `cache.stats`.
    static func lines(of store: JSON) -> [String] {
        let counters = store["counters"]
        func count(_ name: String) -> Int64 { counters?[name]?.integer ?? 0 }
        func list(_ names: [(String, String)]) -> String {
            names.map { "\(count($0.0)) \($0.1)" }.joined(separator: ", ")
        }
        let entries = store["entries"]?.integer ?? 0
        let owner = store["shared"]?.bool == true ? " (shared)" : ""
        var lines = [
            "\(store["store"]?.string ?? "?")\(owner)",
            "  holds     \(entries == 1 ? "1 response" : "\(entries) responses"), \(size(store["memory_bytes"])) in memory, "
                + "\(size(store["disk_bytes"])) on disk",
            "  served    "
                + list([
                    ("hits", "fresh"), ("stale", "stale"), ("revalidated", "found valid"),
                    ("collapsed", "by an identical request"),
                ]),
            "  asked     " + list([("misses", "without a usable response"), ("bypassed", "without a look")]),
            "  stored    \(count("stored")), and lost "
                + list([
                    ("evicted", "for room"), ("invalidated", "as invalid"), ("corrupt", "as damaged"),
                    ("write_failures", "not written"),
                ]),
            "  saved     \(size(counters?["saved_bytes"]))",
        ]
        if let fault = store["disk_fault"]?.string { lines.append("  disk      off: \(fault)") }
        if let reasons = counters?["reasons"], reasons.count > 0 { lines.append("  reasons   \(sorted(reasons))") }
        return lines.map(PlainText.escaped)
    }

    /// Counts by name, the largest first.
    private static func sorted(_ counts: JSON) -> String {
        var found: [(name: String, count: Int64)] = []
        counts.forEachMember { (name: String, value: JSON) in found.append((name, value.integer ?? 0)) }
        found.sort { ($1.count, $0.name) < ($0.count, $1.name) }
        return found.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
    }
}
