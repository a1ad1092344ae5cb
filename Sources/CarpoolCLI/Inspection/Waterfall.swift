internal import CarpoolCaller
internal import CarpoolJSON

/// Draws when the steps of a hop began and ended, a line for each, on the time scale of the whole request.
struct Waterfall {
    /// A step: times in microseconds since the beginning of the request.
    struct Step: Equatable {
        let name: String
        let start: Int64
        let end: Int64
    }

    private let columns: Columns
    /// The end of the request, in microseconds.
    private let total: Int64

    private static let nameColumns = 9
    private static let timeColumns = 11
    /// The width of lines that are not for a terminal.
    private static let defaultWidth = 80
    private static let leastBar = 5

    init(_ columns: Columns, total: Int64) {
        self.columns = columns
        self.total = max(1, total)
    }

    /// The steps of a hop that begins after so many microseconds. What a reused connection did not do is left out.
    static func steps(of hop: JSON, after offset: Int64) -> [Step] {
        let names: [(StaticString, String)] = [
            ("dns_us", "name"), ("connect_us", "connect"), ("tls_us", "TLS"), ("request_us", "send"),
            ("first_byte_us", "wait"), ("end_us", "transfer"),
        ]
        var last = Int64(hop["queued_us"]?.int ?? 0)
        var steps = last > 0 ? [Step(name: "queue", start: offset, end: offset + last)] : []
        for (member, name) in names {
            guard let time = hop[member]?.int.map(Int64.init) else { continue }
            if time > last || name == "wait" || name == "transfer" {
                steps.append(Step(name: name, start: offset + last, end: offset + max(time, last)))
            }
            last = max(last, time)
        }
        return steps
    }

    /// The lines.
    func lines(_ steps: [Step]) -> [String] { steps.map(line) }

    private func line(_ step: Step) -> String {
        let width = columns.width ?? Waterfall.defaultWidth
        let bar = max(Waterfall.leastBar, width - Waterfall.nameColumns - Waterfall.timeColumns - 2)
        let start = min(bar - 1, Int(step.start * Int64(bar) / total))
        let end = min(bar, max(start + 1, Int((step.end * Int64(bar) + total - 1) / total)))
        let mark = columns.hasUnicode ? "█" : "="
        let drawn =
            String(repeating: " ", count: start) + String(repeating: mark, count: end - start)
            + String(repeating: " ", count: bar - end)
        let name = step.name + String(repeating: " ", count: max(0, Waterfall.nameColumns - step.name.count))
        let time = Waterfall.milliseconds(step.end - step.start)
        let padded = String(repeating: " ", count: max(1, Waterfall.timeColumns - time.count)) + time
        return columns.fitting("\(name)|\(drawn)|\(padded)")
    }

    /// A time in milliseconds with a decimal.
    static func milliseconds(_ microseconds: Int64) -> String {
        let tenths = (microseconds + 50) / 100
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
