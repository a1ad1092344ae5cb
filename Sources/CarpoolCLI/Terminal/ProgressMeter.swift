internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The progress of a download, on the terminal of standard error if it is one.
struct ProgressMeter {
    private let isShown: Bool

    init(isSilent: Bool) { isShown = !isSilent && isatty(STDERR_FILENO) == 1 }

    /// Shows how far it is; at the end, if anything was worth showing, what it was.
    func show(_ record: JSON, microseconds: Int, isOver: Bool) {
        guard isShown else { return }
        let received: Int64 = record["received_bytes"]?.integer ?? record["body"]?["size_bytes"]?.integer ?? 0
        let line = ProgressLine(
            received: received, total: record["total_bytes"]?.integer,
            earlier: record["resumed_at_bytes"]?.integer ?? 0, microseconds: microseconds)
        guard isOver else { return draw(line.underWay) }
        clear()
        guard record["outcome"]?["ok"]?.bool == true, microseconds > ProgressMeter.worthTellingMicroseconds else {
            return
        }
        draw(line.whole + "\n")
    }

    /// Wipes it off.
    func clear() { if isShown { draw("") } }

    /// What was over before one could read it needs no report.
    private static let worthTellingMicroseconds = 500_000

    /// To the beginning of the line, which is wiped to its end (ECMA-48, EL).
    private func draw(_ text: String) { try? Terminal.error.write(Array("\r\u{1B}[K\(text)".utf8)) }
}
