/// curl's default meter: a table with one line, which is written over and over after a carriage return.
enum CurlMeter {
    /// The names of the columns, in two lines.
    static let header = [
        "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current",
        "                                 Dload  Upload   Total   Spent    Left  Speed",
    ]

    /// The names of the columns for transfers in parallel (`-Z`).
    static let parallelHeader = "DL% UL%  Dled  Uled  Xfers  Live Total     Current  Left    Speed"

    /// What is written before the first line: the header, and where a transfer goes on.
    static func start(resumesAt offset: Int64?, width: Int) -> String {
        var lines = header
        if let offset { lines.insert("** Resuming transfer from byte position \(offset)", at: 0) }
        return lines.map { $0.prefix(max(0, width)) + "\n" }.joined()
    }

    /// The line of a transfer, cut to a width.
    static func line(_ progress: CurlProgress, width: Int) -> String {
        let whole = (progress.uploadTotal ?? progress.uploadedBytes).addingReportingOverflow(
            progress.downloadTotal ?? progress.downloadedBytes)
        let total = whole.overflow ? Int64.max : whole.partialValue
        let done = progress.downloadedBytes + progress.uploadedBytes
        let spent = progress.elapsedMicroseconds / 1_000_000
        let expected = max(
            seconds(progress.downloadTotal, progress.downloadSpeed),
            seconds(progress.uploadTotal, progress.uploadSpeed))
        let columns = [
            share(CurlProgress.percent(done, of: total), total),
            share(
                percent(progress.downloadedBytes, progress.downloadTotal, progress.downloadSpeed),
                progress.downloadedBytes),
            share(percent(progress.uploadedBytes, progress.uploadTotal, progress.uploadSpeed), progress.uploadedBytes),
            CurlProgress.size(progress.downloadSpeed),
        ]
        let times = [
            CurlProgress.size(progress.uploadSpeed), CurlProgress.time(expected), CurlProgress.time(spent),
            CurlProgress.time(expected > 0 ? expected - spent : 0), CurlProgress.size(progress.currentSpeed),
        ]
        return fitting(columns.joined(separator: "  ") + "  " + times.joined(separator: " "), width)
    }

    /// The line of transfers in parallel: how many were started and are running, and all of their bytes.
    static func parallelLine(_ progress: CurlProgress, started: Int, running: Int, width: Int) -> String {
        func share(_ bytes: Int64, _ total: Int64?) -> String {
            guard let total, total > 0 else { return "-- " }
            // As in curl: bytes of a length that was not known count, the length does not.
            return String(CurlProgress.padded("\(CurlProgress.percent(bytes, of: total))", 3).prefix(3))
        }
        let speed = progress.currentSpeed
        let isKnown = progress.downloadTotal != nil && speed > 0
        let total = progress.downloadTotal ?? 0
        let columns = [
            share(progress.downloadedBytes, progress.downloadTotal),
            share(progress.uploadedBytes, progress.uploadTotal),
            CurlProgress.size(progress.downloadedBytes), CurlProgress.size(progress.uploadedBytes),
            CurlProgress.padded("\(started)", 5), CurlProgress.padded("\(running)", 5) + " ",
            CurlProgress.time(isKnown ? total / speed : 0),
            CurlProgress.time(progress.elapsedMicroseconds / 1_000_000),
            CurlProgress.time(isKnown ? (total - progress.downloadedBytes) / speed : 0), CurlProgress.size(speed),
        ]
        return fitting(columns.joined(separator: " "), width)
    }

    private static func share(_ percent: Int64, _ bytes: Int64) -> String {
        "\(CurlProgress.padded("\(percent)", 3)) \(CurlProgress.size(bytes))"
    }

    /// The share of a direction whose end can be estimated.
    private static func percent(_ bytes: Int64, _ total: Int64?, _ speed: Int64) -> Int64 {
        speed > 0 ? CurlProgress.percent(bytes, of: total) : 0
    }

    private static func seconds(_ total: Int64?, _ speed: Int64) -> Int64 {
        guard let total, speed > 0 else { return 0 }
        return total / speed
    }

    /// A line that does not reach the last column, where a terminal would begin a new line.
    private static func fitting(_ line: String, _ width: Int) -> String { String(line.prefix(max(0, width - 1))) }
}
