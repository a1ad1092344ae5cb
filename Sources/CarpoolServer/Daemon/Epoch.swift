internal import CarpoolSystem

/// The name of one run of the daemon, `epoch` in `daemon.info`, in the ids of requests and in cursors: short, of a
/// fixed width, and different from the last one. Not the Unix epoch.
enum Epoch {
    private static let width = 6
    /// 36^6, the number of names: they repeat after 25 days.
    private static let count: UInt64 = 2_176_782_336

    static func make() -> String { name(atMilliseconds: WallClock.microseconds() / 1_000) }

    /// The name of a run that begins at this time.
    static func name(atMilliseconds milliseconds: Int64) -> String {
        let digits = String(UInt64(bitPattern: milliseconds) % count, radix: 36)
        return String(repeating: "0", count: width - digits.utf8.count) + digits
    }
}
