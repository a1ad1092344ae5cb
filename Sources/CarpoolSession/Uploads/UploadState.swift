internal import CarpoolSystem

/// What a request keeps of the body that it sends, while it is an upload.
final class UploadState {
    /// Where the bytes come from; known when the body is made.
    var kind = CreatedUpload.Kind.data
    /// Decides which steps of the progress are told.
    var pace = ProgressPace()
}

/// Tells often enough to be seen, and not more often: the first step, the last, and between them no two within a tenth of a second. What is
/// told never goes back.
struct ProgressPace {
    private static let intervalMicroseconds = 100_000

    private var told: Int64?
    private var latest: UploadProgress?
    private var toldAt = MonotonicTime(nanoseconds: 0)

    /// Takes a step, and gives it if it is to be told.
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

    /// Gives the last step, if it has not been told.
    mutating func finish() -> UploadProgress? {
        guard let latest, told != latest.sentBytes else { return nil }
        told = latest.sentBytes
        return latest
    }
}
