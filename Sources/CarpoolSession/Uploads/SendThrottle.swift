internal import CarpoolSystem

/// Throttles the progress of a body that is sent: reports the first step, the last, and between them at most one in a
/// tenth of a second. The reported values never decrease.
struct SendThrottle {
    private static let intervalMicroseconds = 100_000

    private var reported: Int64?
    private var latest: UploadProgress?
    private var reportedAt = MonotonicTime(nanoseconds: 0)

    /// Takes a step. Returns it if it is to be reported.
    mutating func step(_ progress: UploadProgress, at now: MonotonicTime) -> UploadProgress? {
        if let latest, latest.sentBytes > progress.sentBytes { return nil }
        latest = progress
        let isLast = progress.sentBytes == progress.totalBytes
        guard reported != progress.sentBytes else { return nil }
        guard reported == nil || isLast || now.microseconds(since: reportedAt) >= SendThrottle.intervalMicroseconds
        else {
            return nil
        }
        reported = progress.sentBytes
        reportedAt = now
        return progress
    }

    /// Returns the last step, if it was not reported.
    mutating func finish() -> UploadProgress? {
        guard let latest, reported != latest.sentBytes else { return nil }
        reported = latest.sentBytes
        return latest
    }
}
