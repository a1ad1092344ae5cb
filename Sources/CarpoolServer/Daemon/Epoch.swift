internal import CarpoolSystem

/// The name of one run of the daemon: short, and different from the last.
enum Epoch {
    static func make() -> String {
        String((UInt64(bitPattern: WallClock.microseconds()) / 1_000) % 2_176_782_336, radix: 36)
    }
}
