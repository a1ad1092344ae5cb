internal import CarpoolJSON
internal import CarpoolSystem

/// The daemon's log: one line an event to standard error, `time level message key=value ...`. Under systemd that is the
/// journal; a daemon that the CLI started writes to `carpoold.log`. It never waits: a thread writes the lines, and
/// drops them when they are not taken.
public final class Log {
    /// How much is said.
    public enum Level: String, Comparable, Sendable, CaseIterable {
        /// Something is wrong with the daemon.
        case error
        /// Something is wrong with its input.
        case warning
        /// The lifecycle: started, reloaded, drained.
        case info
        /// Each request and each connection.
        case debug

        /// Errors are the most important.
        public static func < (a: Level, b: Level) -> Bool { a.rank < b.rank }
        private var rank: Int { Level.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The least important level that is written.
    public var level: Level

    private let writer: LineWriter

    /// Makes a log.
    public init(level: Level) {
        self.level = level
        writer = LineWriter(2) { Log.line(.warning, "log lines dropped", [("count", String($0))]) }
    }

    /// Lines that were dropped because standard error did not take them.
    var dropped: Int { writer.dropped }

    /// Waits until the lines are written, but not for long: the program is about to end.
    public func flush() { writer.flush(milliseconds: Log.flushMilliseconds) }

    private static let flushMilliseconds = 250

    /// Writes a line, if the level is enabled; the fields are made only then.
    public func write(
        _ level: Level, _ message: StaticString, _ fields: @autoclosure () -> [(StaticString, String)] = []
    ) {
        guard level <= self.level else { return }
        writer.write(Log.line(level, message, fields()))
    }

    private static func line(_ level: Level, _ message: StaticString, _ fields: [(StaticString, String)]) -> String {
        var line = "\(Timestamp.text(WallClock.microseconds())) \(level.rawValue) \(message)"
        for (key, value) in fields { line += " \(key)=\(Log.quoted(value))" }
        return line + "\n"
    }

    /// A value that is a word as it is, another one as a JSON text without unprintable characters.
    static func quoted(_ value: String) -> String {
        let isWord = !value.isEmpty && !value.utf8.contains { $0 == 0x20 || $0 == 0x22 || $0 == 0x3D }
        guard !isWord || !PlainText.isPrintable(value) else { return value }
        var writer = JSONWriter()
        writer.string(value)
        return String(decoding: PlainText.escapedJSON(writer.bytes), as: UTF8.self)
    }
}
