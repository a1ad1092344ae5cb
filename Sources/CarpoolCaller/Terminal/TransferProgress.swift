internal import CarpoolJSON
internal import CarpoolSystem

/// What is known of the progress of one transfer, from its events or its records.
struct TransferProgress {
    private let start = MonotonicTime.read()
    private var isUpload = false
    private var isPaused = false
    /// The bytes that were sent or received.
    private var moved: Int64 = 0
    private var total: Int64?
    /// The bytes at which the rate begins: those of an earlier download that is resumed.
    private var base: Int64 = 0
    /// When the first byte after these has not come yet, in microseconds.
    private var began = 0
    /// When the number of bytes has changed, in microseconds.
    private var changed = 0
    /// When the last number of bytes has come, in microseconds.
    private var heard = 0
    /// When it ended, in microseconds; `nil` while it runs.
    private var ended: Int?
    /// The request's id, once an event or a record has come.
    private(set) var request = ""

    /// Shorter transfers are not shown, and get no summary.
    static let worthTellingMicroseconds = 500_000

    /// The time since the transfer began, until its end.
    var microseconds: Int { ended ?? MonotonicTime.read().microseconds(since: start) }

    /// Whether it has taken long enough to be shown.
    var isWorthTelling: Bool { microseconds > TransferProgress.worthTellingMicroseconds }

    /// Whether the record of the request may know more than its events: they come a tenth of a second apart, and none
    /// follows the last piece of a body that stalls.
    var isBehind: Bool { !request.isEmpty && microseconds - heard > TransferProgress.worthTellingMicroseconds }

    /// Takes an event of the request.
    mutating func take(_ event: JSON) {
        if request.isEmpty { request = event["request"]?.string ?? "" }
        let data = event["data"]
        switch event["type"]?.string {
        case "request.did_suspend": isPaused = true
        case "request.did_resume": isPaused = false
        case "request.progress":
            heard = microseconds
            move(to: data?["received_bytes"]?.integer ?? 0, of: data?["total_bytes"]?.integer, isUpload: false)
        case "request.upload_progress":
            move(to: data?["sent_bytes"]?.integer ?? 0, of: data?["total_bytes"]?.integer, isUpload: true)
        default: break
        }
    }

    /// Takes the record of the request. It has both directions; what is sent counts until something is received.
    mutating func take(record: JSON) {
        heard = microseconds
        if request.isEmpty { request = record["request"]?.string ?? "" }
        if record["finished"]?.bool != false { ended = heard }
        isPaused = record["state"]?.isString("suspended") == true
        let received: Int64 = record["received_bytes"]?.integer ?? record["body"]?["size_bytes"]?.integer ?? 0
        let earlier = record["resumed_at_bytes"]?.integer ?? 0
        if received > earlier || record["sent_bytes"] == nil && !isUpload {
            base = max(base, earlier)
            // At the end the record has the size of the body alone.
            let isOver = record["finished"]?.bool != false
            move(to: received, of: record["total_bytes"]?.integer ?? (isOver ? total : nil), isUpload: false)
        } else if let sent = record["sent_bytes"]?.integer {
            move(to: sent, of: record["sent_total_bytes"]?.integer, isUpload: true)
        }
    }

    /// Takes the bytes that were read of a body that is sent meanwhile, and its length if that is known.
    mutating func take(sent: Int64, of total: Int64?) { move(to: sent, of: total, isUpload: true) }

    private mutating func move(to bytes: Int64, of total: Int64?, isUpload: Bool) {
        let now = microseconds
        // Another direction, or another attempt.
        if isUpload != self.isUpload || bytes < moved { base = min(base, bytes) }
        if bytes <= base { began = now }
        if bytes != moved { changed = now }
        (self.isUpload, self.moved, self.total) = (isUpload, bytes, total)
    }

    /// How it stands now.
    /// - Parameter isOutputFull: whether standard output takes nothing.
    func line(isOutputFull: Bool = false) -> ProgressLine {
        let now = microseconds
        var line = ProgressLine(received: moved, total: total, earlier: base, microseconds: now - began)
        line.isUpload = isUpload
        if isPaused {
            line.pause = .request
        } else if isOutputFull, !isUpload, now - changed > TransferProgress.worthTellingMicroseconds {
            line.pause = .output
        }
        return line
    }

    /// What was received and how long it took, if that was long enough.
    var summary: String? {
        guard isWorthTelling, !isUpload else { return nil }
        return ProgressLine(received: moved, total: total, earlier: base, microseconds: microseconds).summary
    }
}
