internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// The list of `carpool ls`.
struct RequestTable {
    private let columns: Columns
    private let now: Int64

    /// - Parameter now: microseconds since 1970.
    init(_ columns: Columns, now: Int64) {
        self.columns = columns
        self.now = now
    }

    /// The heading.
    var heading: String { columns.fitting(row("REQUEST", "STATE", "METHOD", "AGE", "CLIENT", "URL")) }

    /// The line of an entry of `request.list`.
    func line(of entry: JSON) -> String {
        let text = row(
            entry["request"]?.string ?? "?", RequestTable.state(of: entry), entry["method"]?.string ?? "?", age(entry),
            entry["client"]?.string ?? "?", entry["url"]?.string ?? "?")
        return columns.fitting(PlainText.escaped(text))
    }

    /// The columns of a terminal from which on lines have the client, and those from which on they have the method and
    /// the age: the URL has room.
    private static let columnsWithClient = 80
    private static let columnsWithMethod = 60

    private func row(
        _ request: String, _ state: String, _ method: String, _ age: String, _ client: String, _ url: String
    ) -> String {
        let cells = [(request, 14), (state, 9), (method, 6), (age, 6), (client, 12)]
        let width = columns.width ?? RequestTable.columnsWithClient
        let count = width < RequestTable.columnsWithMethod ? 2 : width < RequestTable.columnsWithClient ? 4 : 5
        return cells.prefix(count).map { RequestTable.padded($0.0, $0.1) }.joined(separator: " ") + " " + url
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - Columns.count(text)))
    }

    /// What a request does, or how it ended.
    static func state(of entry: JSON) -> String {
        guard entry["finished"]?.bool == true else {
            switch entry["state"]?.string {
            case "initialized": return "waiting"
            case "suspended": return "paused"
            default: return "running"
            }
        }
        if entry["state"]?.isString("cancelled") == true { return "cancelled" }
        if entry["error"] != nil { return "failed" }
        return entry["status"]?.int.map(String.init) ?? "finished"
    }

    private func age(_ entry: JSON) -> String {
        guard let created = entry["created"]?.string.flatMap(RequestTable.microseconds) else { return "-" }
        return TimeSpan.text(milliseconds: max(0, now - created) / 1_000)
    }

    /// The microseconds since 1970 of a time of the wire, such as `2026-09-30T10:00:00.123456Z`.
    static func microseconds(_ text: String) -> Int64? {
        let digits = text.split { !("0"..."9").contains($0) }.compactMap { Int64($0) }
        guard digits.count >= 6 else { return nil }
        let days = days(digits[0], digits[1], digits[2])
        let seconds = ((days * 24 + digits[3]) * 60 + digits[4]) * 60 + digits[5]
        let fraction = text.firstIndex(of: ".").map { text[text.index(after: $0)...].prefix { $0.isNumber } } ?? ""
        return seconds * 1_000_000 + (Int64((fraction + "000000").prefix(6)) ?? 0)
    }

    /// Days since 1970 of a date of the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }
}
