internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Shows the progress of a download on standard error, if it is a terminal.
struct ProgressMeter {
    private let isShown: Bool

    init(isSilent: Bool) { isShown = !isSilent && isatty(STDERR_FILENO) == 1 }

    /// Shows the progress; at the end, a summary if the download took long enough.
    func show(_ record: JSON, microseconds: Int, isOver: Bool) {
        guard isShown else { return }
        let received: Int64 = record["received_bytes"]?.integer ?? record["body"]?["size_bytes"]?.integer ?? 0
        let line = ProgressLine(
            received: received, total: record["total_bytes"]?.integer,
            earlier: record["resumed_at_bytes"]?.integer ?? 0, microseconds: microseconds)
        guard isOver else { return draw(line.running) }
        clear()
        guard record["outcome"]?["ok"]?.bool == true, microseconds > ProgressMeter.worthTellingMicroseconds else {
            return
        }
        draw(line.summary + "\n")
    }

    /// Clears the line.
    func clear() { if isShown { draw("") } }

    /// Shorter downloads get no summary.
    private static let worthTellingMicroseconds = 500_000

    /// Moves to the beginning of the line and clears it (ECMA-48, EL).
    private func draw(_ text: String) { try? Terminal.error.write(Array("\r\u{1B}[K\(text)".utf8)) }
}
