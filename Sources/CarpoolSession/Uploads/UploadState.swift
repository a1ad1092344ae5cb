internal import CarpoolSystem

/// The state of the body that an upload sends.
final class UploadState {
    /// The source of the bytes; known when the body is created.
    var kind = CreatedUpload.Kind.data
    /// Throttles the progress events.
    var pace = ProgressPace()
}

/// Throttles progress: reports the first step, the last, and between them at most one in a tenth of a second. The reported
/// values never decrease.
struct ProgressPace {
    private static let intervalMicroseconds = 100_000

    private var told: Int64?
    private var latest: UploadProgress?
    private var toldAt = MonotonicTime(nanoseconds: 0)

    /// Takes a step. Returns it if it is to be reported.
    mutating func step(_ progress: UploadProgress, at now: MonotonicTime) -> UploadProgress? {
        if let latest, latest.sentBytes > progress.sentBytes { return nil }
        latest = progress
        let isLast = progress.sentBytes == progress.totalBytes
        guard told != progress.sentBytes else { return nil }
        guard told == nil || isLast || now.microseconds(since: toldAt) >= ProgressPace.intervalMicroseconds else {
            return nil
        }
        told = progress.sentBytes
        toldAt = now
        return progress
    }

    /// Returns the last step, if it was not reported.
    mutating func finish() -> UploadProgress? {
        guard let latest, told != latest.sentBytes else { return nil }
        told = latest.sentBytes
        return latest
    }
}
