internal import CarpoolJSON
internal import CarpoolSystem

/// The daemon's log: one line an event to standard error, `time level message key=value ...`. Under systemd that is the journal; a daemon
/// that the CLI started writes to `carpoold.log`.
public final class Log {
    /// How much is said.
    public enum Level: String, Comparable, Sendable, CaseIterable {
        /// Something is wrong with the daemon.
        case error
        /// Something is wrong with what it was given.
        case warning
        /// Its life: started, reloaded, drained.
        case info
        /// Each request and each connection.
        case debug

        /// Errors are the most important.
        public static func < (a: Level, b: Level) -> Bool { a.rank < b.rank }
        private var rank: Int { Level.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The least important level that is written.
    public var level: Level

    /// Makes a log.
    public init(level: Level) { self.level = level }

    /// Writes a line, if the level is wanted; the fields are made only then.
    public func write(
        _ level: Level, _ message: StaticString, _ fields: @autoclosure () -> [(StaticString, String)] = []
    ) {
        guard level <= self.level else { return }
        var line = "\(Timestamp.text(WallClock.microseconds())) \(level.rawValue) \(message)"
        for (key, value) in fields() { line += " \(key)=\(Log.quoted(value))" }
        line += "\n"
        // A log that cannot be written must not stop the daemon.
        line.withUTF8 { try? Bytes.writeAll(2, UnsafeRawBufferPointer($0)) }
    }

    private static func quoted(_ value: String) -> String {
        guard value.isEmpty || value.utf8.contains(where: { $0 <= 0x20 || $0 == 0x22 || $0 == 0x3D }) else {
            return value
        }
        var writer = JSONWriter()
        writer.string(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
