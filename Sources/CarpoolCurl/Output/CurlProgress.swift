/// How far a transfer is: what the meters of curl show.
struct CurlProgress: Equatable {
    var downloadedBytes: Int64 = 0
    /// `nil` if the length is not known.
    var downloadTotal: Int64?
    var uploadedBytes: Int64 = 0
    var uploadTotal: Int64?
    var elapsedMicroseconds: Int64 = 0
    /// The speed of the last seconds in bytes a second.
    var currentSpeed: Int64 = 0

    var downloadSpeed: Int64 { CurlProgress.speed(downloadedBytes, elapsedMicroseconds) }
    var uploadSpeed: Int64 { CurlProgress.speed(uploadedBytes, elapsedMicroseconds) }

    /// Bytes a second.
    static func speed(_ bytes: Int64, _ microseconds: Int64) -> Int64 {
        let (product, overflows) = bytes.multipliedReportingOverflow(by: 1_000_000)
        if !overflows { return product / max(1, microseconds) }
        return microseconds >= 1_000_000 ? bytes / (microseconds / 1_000_000) : Int64.max
    }

    /// The share in percent; 0 for an unknown or empty whole.
    static func percent(_ bytes: Int64, of total: Int64?) -> Int64 {
        guard let total, total > 0 else { return 0 }
        return total > 10_000 ? bytes / (total / 100) : bytes * 100 / total
    }

    /// A size in five columns, with k, M, G, T or P.
    static func size(_ bytes: Int64) -> String {
        let units: [(limit: Int64, unit: Int64, letter: String)] = [
            (10_000 << 10, 1 << 10, "k"), (10_000 << 20, 1 << 20, "M"), (10_000 << 30, 1 << 30, "G"),
            (10_000 << 40, 1 << 40, "T"), (Int64.max, 1 << 50, "P"),
        ]
        if bytes < 100_000 { return padded("\(bytes)", 5) }
        let (_, unit, letter) = units.first { bytes < $0.limit } ?? units[4]
        if letter == "M" || letter == "G", bytes / unit < 100 {
            let tenths = bytes % unit / (unit / 10)
            return padded("\(bytes / unit).\(min(9, tenths))\(letter)", 5)
        }
        return padded("\(bytes / unit)\(letter)", 5)
    }

    /// A time in eight columns; dashes for none.
    static func time(_ seconds: Int64) -> String {
        guard seconds > 0 else { return "--:--:--" }
        let hours = seconds / 3_600
        if hours <= 99 {
            return "\(padded("\(hours)", 2)):\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
        }
        let days = seconds / 86_400
        return days <= 999 ? "\(padded("\(days)", 3))d \(twoDigits(hours % 24))h" : "\(padded("\(days)", 7))d"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// A text with spaces before it.
    static func padded(_ text: String, _ columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - text.utf8.count)) + text
    }
}
