internal import CarpoolSystem

/// The name of one run of the daemon, `epoch` in `daemon.info` and in cursors: short, and different from the last one.
/// Not the Unix epoch.
enum Epoch {
    static func make() -> String {
        String((UInt64(bitPattern: WallClock.microseconds()) / 1_000) % 2_176_782_336, radix: 36)
    }
}
