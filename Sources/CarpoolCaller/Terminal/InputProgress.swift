internal import CarpoolSystem
internal import Glibc

/// Shows on standard error, if it is a terminal, how much of a body was read that is read whole before it is sent.
package struct InputProgress {
    private var display: ProgressDisplay
    private let start = MonotonicTime.read()

    package init(isSilent: Bool) { display = ProgressDisplay(isSilent: isSilent) }

    /// Waits until a file has more bytes or has ended, or the limit of ``NamedPath`` has passed. What is typed on a
    /// terminal would be mixed with the line.
    /// - Parameters:
    ///   - file: the descriptor.
    ///   - name: what the line says of it.
    ///   - bytes: how many were read.
    package mutating func wait(for file: Int32, _ name: String, after bytes: Int64) {
        guard display.isShown, isatty(file) == 0 else { return }
        while true {
            show(name, bytes)
            let next = MonotonicTime.read().advanced(milliseconds: ProgressDisplay.milliseconds)
            if min(next, NamedPath.limit).waitForInput(file) || NamedPath.isTimeOver { return }
        }
    }

    private mutating func show(_ name: String, _ bytes: Int64) {
        let now = MonotonicTime.read()
        guard display.isDue, now.microseconds(since: start) > TransferProgress.worthTellingMicroseconds else { return }
        let size = bytes > 0 ? ", \(ProgressLine.size(Double(bytes)))" : ""
        let columns = Columns(width: ProgressDisplay.size.columns - 1, hasUnicode: false)
        display.draw([columns.fitting("reading \(PlainText.escaped(name))\(size)")])
    }

    /// Removes the line, if it was drawn.
    package func clear() { display.clear() }
}
