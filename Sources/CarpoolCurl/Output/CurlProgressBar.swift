/// The bar of `-#`, which is written over and over after a carriage return.
enum CurlProgressBar {
    /// A bar is no wider.
    private static let maximumColumns = 400
    /// The columns of the percentage.
    private static let percentColumns = 7
    /// What moves if the length is not known, and one step of it.
    private static let shuttle = "-=O=-"
    private static let stepMilliseconds: Int64 = 100

    /// Whether there is something to show: bytes of a known length, or a tenth of a second without one.
    static func isShown(_ progress: CurlProgress, resumesAt offset: Int64) -> Bool {
        guard expected(progress) > 0 else { return progress.elapsedMicroseconds >= stepMilliseconds * 1_000 }
        return progress.downloadedBytes + progress.uploadedBytes + offset > 0
    }

    private static func expected(_ progress: CurlProgress) -> Int64 {
        (progress.downloadTotal ?? 0) + (progress.uploadTotal ?? 0)
    }

    /// The bar of a transfer: marks and a percentage, or something that moves to and fro if the length is not known.
    /// The bytes that were there before the transfer count (`-C`).
    static func line(_ progress: CurlProgress, resumesAt offset: Int64 = 0, width: Int) -> String {
        let columns = min(width, maximumColumns)
        let expected = expected(progress)
        guard expected > 0 else { return moving(progress, columns) }
        let done = progress.downloadedBytes + progress.uploadedBytes + offset
        let share = min(1, Double(done) / Double(expected + offset))
        let barColumns = max(0, columns - percentColumns)
        let marks = Int(Double(barColumns) * share)
        let tenths = Int((share * 1_000).rounded())
        let percent = " " + CurlProgress.padded("\(tenths / 10).\(tenths % 10)", 5) + "%"
        let bar = String(repeating: "#", count: marks) + String(repeating: " ", count: barColumns - marks)
        return String((bar + percent).suffix(max(0, columns)))
    }

    private static func moving(_ progress: CurlProgress, _ columns: Int) -> String {
        let way = columns - shuttle.utf8.count
        guard way > 0 else { return String(shuttle.prefix(max(0, columns))) }
        let step = Int(progress.elapsedMicroseconds / 1_000 / stepMilliseconds) % (2 * way)
        let place = step <= way ? step : 2 * way - step
        return String(repeating: " ", count: place) + shuttle + String(repeating: " ", count: way - place)
    }
}
