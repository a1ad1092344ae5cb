package import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Shows the progress of a request on standard error, if it is a terminal.
package struct ProgressMeter {
    /// Whether it shows anything.
    package let isShown: Bool
    private let start = MonotonicTime.read()

    /// The types of the events that ``show(_:)-(JSON)`` takes.
    package static let eventTypes = [
        "request.progress", "request.upload_progress", "request.did_suspend", "request.did_resume",
    ]
    /// The interval at which it is drawn again, in milliseconds.
    package static let milliseconds = 200

    /// What the events have said.
    private var isUpload = false
    private var isPaused = false
    private var moved: Int64 = 0 {
        didSet { if moved != oldValue { changed = microseconds } }
    }
    /// When the number of bytes has changed, in microseconds.
    private var changed = 0
    /// The request, once an event has come.
    package private(set) var request = ""
    /// When the last number of bytes has come, in microseconds.
    private var heard = 0
    private var total: Int64?
    /// When it was drawn last, in microseconds.
    private var drawn = 0
    /// Whether the line shows it.
    private var isDrawn = false

    package init(isSilent: Bool) { isShown = !isSilent && isatty(STDERR_FILENO) == 1 }

    private var microseconds: Int { MonotonicTime.read().microseconds(since: start) }

    // MARK: Records

    /// Shows the progress of a download; at the end, a summary if it took long enough.
    package mutating func show(record: JSON, isOver: Bool) {
        guard isShown else { return }
        let received: Int64 = record["received_bytes"]?.integer ?? record["body"]?["size_bytes"]?.integer ?? 0
        var line = ProgressLine(
            received: received, total: record["total_bytes"]?.integer,
            earlier: record["resumed_at_bytes"]?.integer ?? 0, microseconds: microseconds)
        if record["state"]?.isString("suspended") == true { line.pause = .request }
        guard isOver else { return draw(line.running(ProgressMeter.columns)) }
        clear()
        guard record["outcome"]?["ok"]?.bool == true, microseconds > ProgressMeter.worthTellingMicroseconds else {
            return
        }
        draw(line.summary + "\n")
        isDrawn = false
    }

    // MARK: Events

    /// Takes an event of the request.
    package mutating func take(_ event: JSON) {
        if request.isEmpty { request = event["request"]?.string ?? "" }
        switch event["type"]?.string {
        case "request.did_suspend": isPaused = true
        case "request.did_resume": isPaused = false
        case "request.progress":
            (isUpload, moved, heard) = (false, event["data"]?["received_bytes"]?.integer ?? 0, microseconds)
            total = event["data"]?["total_bytes"]?.integer
        case "request.upload_progress":
            (isUpload, moved) = (true, event["data"]?["sent_bytes"]?.integer ?? 0)
            total = event["data"]?["total_bytes"]?.integer
        default: break
        }
    }

    /// Whether the record of the request may know more than its events: they come a tenth of a second apart, and none
    /// follows the last piece of a body that stalls.
    package var isBehind: Bool {
        isShown && !request.isEmpty && microseconds - heard > ProgressMeter.worthTellingMicroseconds
    }

    /// Takes the record of the running request.
    package mutating func take(running record: JSON) {
        heard = microseconds
        guard let received = record["received_bytes"]?.integer, received > 0 else { return }
        (isUpload, moved, total) = (false, received, record["total_bytes"]?.integer)
    }

    /// Takes the bytes that were read of a body whose length is not known.
    package mutating func take(sent: Int64) { (isUpload, moved, total) = (true, sent, nil) }

    /// Shows what the events have said, unless the request is quick.
    /// - Parameter isOutputFull: whether standard output takes nothing now.
    package mutating func show(isOutputFull: Bool = false) {
        let now = microseconds
        guard isShown, now > ProgressMeter.worthTellingMicroseconds else { return }
        guard now - drawn >= ProgressMeter.milliseconds * 900 else { return }
        drawn = now
        var line = ProgressLine(received: moved, total: total, microseconds: microseconds)
        line.isUpload = isUpload
        if isPaused {
            line.pause = .request
        } else if isOutputFull, !isUpload, now - changed > ProgressMeter.worthTellingMicroseconds {
            line.pause = .output
        }
        draw(line.running(ProgressMeter.columns))
    }

    // MARK: The line

    /// Clears the line, if it was drawn.
    package mutating func clear() {
        guard isDrawn else { return }
        draw("")
        isDrawn = false
    }

    /// Shorter transfers get no summary.
    private static let worthTellingMicroseconds = 500_000

    /// The width of the terminal, which may change at any time; 80 if it does not say.
    private static var columns: Int {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }

    /// Moves to the beginning of the line and clears it (ECMA-48, EL).
    private mutating func draw(_ text: String) {
        isDrawn = true
        try? Terminal.error.write(Array("\r\u{1B}[K\(text)".utf8))
    }
}
