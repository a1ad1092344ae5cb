internal import CarpoolSystem
internal import Glibc

/// Shows how far a transfer is: curl's meter, or its bar (`-#`).
final class CurlProgressOutput {
    private let console: CurlConsole
    private let isBar: Bool
    private let resumesAt: Int64?
    private var lastPeriod: Int64 = -1
    private var lastBar = ""
    private var hasBegun = false
    private var speed = CurlSpeed(samples: CurlProgressOutput.samples)

    /// The speed is that of the last five seconds.
    private static let samples = 6

    /// - Parameter resumesAt: where a download goes on (`-C`).
    init(_ console: CurlConsole, isBar: Bool, resumesAt: Int64?) {
        self.console = console
        self.isBar = isBar
        self.resumesAt = resumesAt
    }

    /// The longest time between two looks at the progress.
    var milliseconds: Int { isBar ? 100 : 500 }

    /// Whether a transfer is shown: not with `-s`, and not if its body goes to a terminal.
    static func isShown(_ global: CurlGlobalOptions, isStandardOutput: Bool) -> Bool {
        guard !global.isSilent, !global.hidesProgress else { return false }
        return !(isStandardOutput && isatty(STDOUT_FILENO) == 1)
    }

    /// Shows the progress: the meter at most once a second, the bar ten times.
    func update(_ progress: CurlProgress) {
        let period = progress.elapsedMicroseconds / (isBar ? 100_000 : 1_000_000)
        guard period != lastPeriod else { return }
        lastPeriod = period
        show(progress)
    }

    /// Shows the progress. A bar that has not moved is not drawn again.
    private func show(_ progress: CurlProgress) {
        if isBar {
            guard CurlProgressBar.isShown(progress, resumesAt: resumesAt ?? 0) else { return }
            let bar = CurlProgressBar.line(progress, resumesAt: resumesAt ?? 0, width: console.columns)
            if bar != lastBar { console.write("\r" + bar) }
            lastBar = bar
            return
        }
        if !hasBegun { console.write(CurlMeter.start(resumesAt: resumesAt, width: console.columns)) }
        hasBegun = true
        var progress = progress
        let bytes = progress.downloadedBytes + progress.uploadedBytes
        progress.currentSpeed = speed.take(bytes, at: progress.elapsedMicroseconds)
        console.write("\r" + CurlMeter.line(progress, width: console.columns))
    }

    /// Shows the end; another attempt may follow.
    func finish(_ progress: CurlProgress) {
        show(progress)
        console.write("\n")
        (lastPeriod, lastBar) = (-1, "")
        speed = CurlSpeed(samples: CurlProgressOutput.samples)
    }
}
