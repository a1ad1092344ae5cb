package import CarpoolJSON

/// Shows the progress of several transfers at once on standard error, if it is a terminal: a line each, with its
/// name.
package final class ProgressBoard {
    private var display: ProgressDisplay
    private var rows: [(request: String, name: String, progress: TransferProgress)] = []

    package init(isSilent: Bool) { display = ProgressDisplay(isSilent: isSilent) }

    /// Whether it shows anything.
    package var isShown: Bool { display.isShown }

    /// Adds a transfer that begins.
    package func add(_ request: String, name: String) {
        if isShown { rows.append((request, name, TransferProgress())) }
    }

    /// Takes the record of a transfer.
    package func take(_ record: JSON, of request: String) {
        guard let index = rows.firstIndex(where: { $0.request == request }) else { return }
        rows[index].progress.take(record: record)
    }

    /// Removes the line of a transfer; one that has succeeded and was slow enough gets a summary if it was a download.
    package func end(_ request: String, isDownload: Bool) {
        guard let index = rows.firstIndex(where: { $0.request == request }) else { return }
        let row = rows.remove(at: index)
        guard isDownload, let summary = row.progress.summary else { return }
        display.keep(ProgressLine.named(row.name, summary))
    }

    /// Draws the lines, unless all transfers are quick or the lines were drawn a moment ago.
    package func show() {
        guard display.isDue, rows.contains(where: \.progress.isWorthTelling) else { return }
        let size = ProgressDisplay.size
        let width = min(size.columns / 3, rows.map { ProgressLine.width(of: $0.name) }.max() ?? 0)
        var lines = rows.prefix(max(1, size.lines - 2)).map {
            $0.progress.line().running(size.columns, name: $0.name, width: width)
        }
        if lines.count < rows.count { lines.append("and \(rows.count - lines.count) more") }
        display.draw(lines)
    }

    /// Removes the lines, if they were drawn.
    package func clear() { display.clear() }
}
