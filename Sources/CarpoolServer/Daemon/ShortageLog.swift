internal import CarpoolSystem

/// Logs shortages: one line when one begins, however many calls it fails.
final class ShortageLog {
    private let log: Log
    private var last: MonotonicTime?

    /// A shortage that comes again sooner is the same one.
    private static let quietMilliseconds = 10_000

    init(_ log: Log) { self.log = log }

    /// Calls have failed for a shortage.
    func note(at now: MonotonicTime) {
        let isSame = last.map { $0.advanced(milliseconds: ShortageLog.quietMilliseconds) > now } ?? false
        last = now
        guard !isSame else { return }
        let code = Shortage.lastCode
        log.write(
            .warning, "the daemon is short of a resource",
            [("errno", String(code)), ("error", Shortage.explanation(of: code)), ("hint", Shortage.remedy(for: code))])
    }
}
