internal import CarpoolSystem

/// Formats the progress of a transfer on one line.
package struct ProgressLine {
    /// The bytes that were received, or sent.
    let received: Int64
    /// The expected bytes, if known.
    let total: Int64?
    /// The bytes of an earlier download that is resumed.
    let earlier: Int64
    /// The elapsed time.
    let microseconds: Int
    /// Whether the bytes are those of the request.
    var isUpload = false
    /// Why nothing moves, if that is known.
    var pause: Pause?

    /// Why nothing moves.
    enum Pause {
        /// The request is paused.
        case request
        /// Standard output is full, because its reader does not read.
        case output
    }

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

    /// The line of a running transfer, of less than so many columns: a terminal would wrap a full line.
    ///
    /// `45% [#########           ] 450 MiB of 1.00 GiB  120 MiB/s  0:04 left`
    /// - Parameters:
    ///   - name: what the line begins with; at most a third of the line.
    ///   - width: the columns of the name, so that lines below each other are aligned.
    func running(_ columns: Int, name: String? = nil, width: Int = 0) -> String {
        let beginning = name.map { Self.fitted($0, to: columns / 3, width) + "  " } ?? ""
        let columns = columns - Columns.count(beginning)
        return beginning + (forms.first { $0.count < columns } ?? String(amount.prefix(max(0, columns - 1))))
    }

    private static func fitted(_ name: String, to columns: Int, _ width: Int) -> String {
        let text = Columns(width: nil, hasUnicode: false).cut(PlainText.escaped(name), columns)
        return text + String(repeating: " ", count: max(0, min(width, columns) - Columns.count(text)))
    }

    /// A text with the name of its transfer before it, if there is one.
    static func named(_ name: String?, _ text: String) -> String {
        name.map { "\(PlainText.escaped($0))  \(text)" } ?? text
    }

    /// The columns of a name.
    static func width(of name: String) -> Int { Columns.count(PlainText.escaped(name)) }

    /// The same with less and less in it.
    private var forms: [String] {
        let rate = rate
        let short = pause == nil ? "\(Self.size(rate))/s" : "paused"
        let pace = pause == .output ? "paused: output not read" : short
        guard let total, total > 0 else { return ["\(amount)  \(pace)", "\(amount)  \(short)", amount] }
        let part = min(1, Double(received) / Double(total))
        let percent = "\(Self.padded("\(Int(part * 100))", 3))%"
        let sizes = "\(amount) of \(Self.size(Double(total)))"
        let isTimeKnown = rate > 0 && pause == nil
        let left = isTimeKnown ? "  \(Self.time(Double(max(0, total &- received)) / rate)) left" : ""
        return [
            "\(percent) \(Self.bar(part, 20)) \(sizes)  \(pace)\(left)", "\(percent) \(sizes)  \(pace)\(left)",
            "\(percent) \(sizes)  \(pace)", "\(percent) \(amount)  \(pace)", "\(percent) \(amount)  \(short)",
            "\(percent) \(short)", percent,
        ]
    }

    private var amount: String { Self.size(Double(received)) + (isUpload ? " sent" : "") }

    private static func bar(_ part: Double, _ width: Int) -> String {
        let full = Int(part * Double(width))
        return "[\(String(repeating: "#", count: full))\(String(repeating: " ", count: width - full))]"
    }

    /// `1.00 GiB in 0:09, 120 MiB/s`
    var summary: String {
        "\(Self.size(Double(received))) in \(Self.time(Double(microseconds) / 1e6)), \(Self.size(rate))/s"
    }

    /// Formats a size with three digits and a binary unit.
    package static func size(_ bytes: Double) -> String {
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
