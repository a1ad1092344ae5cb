/// Formats the progress of a transfer on one line.
struct ProgressLine {
    /// The received bytes.
    let received: Int64
    /// The expected bytes, if known.
    let total: Int64?
    /// The bytes of an earlier download that is resumed.
    let earlier: Int64
    /// The elapsed time.
    let microseconds: Int

    init(received: Int64, total: Int64?, earlier: Int64 = 0, microseconds: Int) {
        self.received = received
        self.total = total
        self.earlier = earlier
        self.microseconds = microseconds
    }

    /// Bytes per second, without those of an earlier download.
    private var rate: Double {
        microseconds > 0 ? Double(max(0, received &- earlier)) / Double(microseconds) * 1e6 : 0
    }

    /// `45% [#########           ]   450 MiB of 1.00 GiB  120 MiB/s  0:04 left`
    var running: String {
        guard let total, total > 0 else { return "\(Self.size(Double(received)))  \(Self.size(rate))/s" }
        let part = min(1, Double(received) / Double(total))
        let width = 20
        let full = Int(part * Double(width))
        let bar = String(repeating: "#", count: full) + String(repeating: " ", count: width - full)
        let left = rate > 0 ? "  \(Self.time(Double(max(0, total &- received)) / rate)) left" : ""
        let percent = Self.padded("\(Int(part * 100))", 3)
        return
            "\(percent)% [\(bar)] \(Self.size(Double(received))) of \(Self.size(Double(total)))  \(Self.size(rate))/s\(left)"
    }

    /// `1.00 GiB in 0:09, 120 MiB/s`
    var summary: String {
        "\(Self.size(Double(received))) in \(Self.time(Double(microseconds) / 1e6)), \(Self.size(rate))/s"
    }

    /// Formats a size with three digits and a binary unit.
    static func size(_ bytes: Double) -> String {
        var value = bytes
        var unit = "B"
        for larger in ["KiB", "MiB", "GiB", "TiB"] where value >= 1_000 {
            value /= 1_024
            unit = larger
        }
        guard unit != "B", value < 100 else { return "\(Int(value.rounded())) \(unit)" }
        let scale: Double = value < 10 ? 100 : 10
        let digits = Int((value * scale).rounded())
        let fraction = padded("\(digits % Int(scale))", scale == 100 ? 2 : 1, with: "0")
        return "\(digits / Int(scale)).\(fraction) \(unit)"
    }

    private static func time(_ seconds: Double) -> String {
        // A very low rate makes the time meaningless.
        let seconds = Int(min(seconds.rounded(.up), 359_999))
        let minutes = seconds / 60 % 60
        let rest = padded("\(seconds % 60)", 2, with: "0")
        guard seconds >= 3_600 else { return "\(minutes):\(rest)" }
        return "\(seconds / 3_600):\(padded("\(minutes)", 2, with: "0")):\(rest)"
    }

    private static func padded(_ text: String, _ width: Int, with filler: String = " ") -> String {
        String(repeating: filler, count: max(0, width - text.count)) + text
    }
}
