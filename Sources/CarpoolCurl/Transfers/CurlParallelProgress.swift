internal import CarpoolSystem

/// Shows how far the transfers of `-Z` are, all of them on one line.
final class CurlParallelProgress {
    private let console: CurlConsole
    private let began = MonotonicTime.read()
    /// When the line is drawn again; `nil` before the first time.
    private(set) var dueAt: MonotonicTime?
    private var started = 0
    /// What the transfers that have ended have moved, and the lengths that were known of them.
    private var ended = CurlProgress(downloadTotal: 0, uploadTotal: 0)
    private var downloadSpeed = CurlSpeed(samples: CurlParallelProgress.samples)
    private var uploadSpeed = CurlSpeed(samples: CurlParallelProgress.samples)

    private static let milliseconds = 500
    /// The speed is that of the last five seconds.
    private static let samples = 10

    init(_ console: CurlConsole) { self.console = console }

    /// Notes that a transfer begins.
    func begin() { started += 1 }

    /// Notes that a transfer has ended.
    func end(_ progress: CurlProgress) {
        ended.downloadedBytes += progress.downloadedBytes
        ended.uploadedBytes += progress.uploadedBytes
        ended.downloadTotal = (ended.downloadTotal ?? 0) + (progress.downloadTotal ?? 0)
        ended.uploadTotal = (ended.uploadTotal ?? 0) + (progress.uploadTotal ?? 0)
    }

    /// Shows the progress of the running transfers, twice a second.
    func update(_ running: () -> [CurlProgress]) {
        let now = MonotonicTime.read()
        guard dueAt.map({ $0 <= now }) ?? true else { return }
        write(running(), padding: "      ")
        dueAt = now.advanced(milliseconds: CurlParallelProgress.milliseconds)
    }

    /// Shows the end.
    func finish() { write([], padding: "     \n") }

    private func write(_ running: [CurlProgress], padding: String) {
        if dueAt == nil { console.write(CurlMeter.parallelHeader + "\n") }
        let line = CurlMeter.parallelLine(
            sum(running), started: started, running: running.count, width: console.columns - padding.utf8.count)
        console.write("\r" + line + padding)
    }

    /// The sum of all transfers. A total is known if that of each running one is.
    private func sum(_ running: [CurlProgress]) -> CurlProgress {
        var sum = ended
        for progress in running {
            sum.downloadedBytes += progress.downloadedBytes
            sum.uploadedBytes += progress.uploadedBytes
            sum.downloadTotal = CurlParallelProgress.sum(sum.downloadTotal, progress.downloadTotal)
            sum.uploadTotal = CurlParallelProgress.sum(sum.uploadTotal, progress.uploadTotal)
        }
        sum.elapsedMicroseconds = Int64(MonotonicTime.read().microseconds(since: began))
        sum.currentSpeed = max(
            downloadSpeed.take(sum.downloadedBytes, at: sum.elapsedMicroseconds),
            uploadSpeed.take(sum.uploadedBytes, at: sum.elapsedMicroseconds))
        return sum
    }

    private static func sum(_ one: Int64?, _ other: Int64?) -> Int64? {
        guard let one, let other, other > 0 else { return nil }
        return one + other
    }
}
