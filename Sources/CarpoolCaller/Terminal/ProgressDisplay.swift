internal import CarpoolSystem
internal import Glibc

/// Lines at the end of standard error, a terminal, that are drawn again in place.
struct ProgressDisplay {
    /// Whether it shows anything.
    let isShown: Bool
    /// When it was drawn last.
    private var drawn = MonotonicTime(nanoseconds: 0)

    /// The interval at which it is drawn again, in milliseconds.
    static let milliseconds = 200

    init(isSilent: Bool) { isShown = !isSilent && isatty(STDERR_FILENO) == 1 }

    /// Whether it is time to draw again.
    var isDue: Bool { isShown && MonotonicTime.read().microseconds(since: drawn) >= ProgressDisplay.milliseconds * 900 }

    /// The size of the terminal, which may change at any time; 80 columns and 24 lines if it does not say.
    static var size: (columns: Int, lines: Int) {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return (
            isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80, isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24
        )
    }

    /// Replaces the lines.
    mutating func draw(_ lines: [String]) {
        drawn = MonotonicTime.read()
        Terminal.drawProgress(lines)
    }

    /// Removes the lines.
    func clear() { if isShown { Terminal.drawProgress([]) } }

    /// Prints a line that stays in place of the others, which are drawn again below it.
    mutating func keep(_ line: String) {
        guard isShown else { return }
        Terminal.printError(line)
        drawn = MonotonicTime(nanoseconds: 0)
    }
}
