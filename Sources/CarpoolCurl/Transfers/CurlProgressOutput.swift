internal import CarpoolSystem
internal import Glibc

/// Shows how far a transfer is: curl's meter, or its bar (`-#`).
final class CurlProgressOutput {
    private let console: CurlConsole
    private let isBar: Bool
    private let resumesAt: Int64?
    private var lastSecond: Int64 = -1
    private var hasBegun = false

    /// - Parameter resumesAt: where a download goes on (`-C`).
    init(_ console: CurlConsole, isBar: Bool, resumesAt: Int64?) {
        self.console = console
        self.isBar = isBar
        self.resumesAt = resumesAt
    }

    /// Whether a transfer is shown: not with `-s`, and not if its body goes to a terminal.
    static func isShown(_ global: CurlGlobalOptions, isStandardOutput: Bool) -> Bool {
        guard !global.isSilent, !global.hidesProgress, !global.isParallel else { return false }
        return !(isStandardOutput && isatty(STDOUT_FILENO) == 1)
    }

    /// Shows the progress, at most once a second.
    func update(_ progress: CurlProgress) {
        let second = progress.elapsedMicroseconds / 1_000_000
        guard second != lastSecond else { return }
        lastSecond = second
        show(progress)
    }

    /// Shows the progress.
    private func show(_ progress: CurlProgress) {
        if isBar {
            guard CurlProgressBar.isShown(progress, resumesAt: resumesAt ?? 0) else { return }
            console.write("\r" + CurlProgressBar.line(progress, resumesAt: resumesAt ?? 0, width: console.columns))
            return
        }
        if !hasBegun { console.write(CurlMeter.start(resumesAt: resumesAt, width: console.columns)) }
        hasBegun = true
        console.write("\r" + CurlMeter.line(progress, width: console.columns))
    }

    /// Shows the end.
    func finish(_ progress: CurlProgress) {
        show(progress)
        console.write("\n")
    }
}
