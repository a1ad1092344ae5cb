internal import CarpoolCaller
internal import CarpoolSystem
internal import Glibc

/// The file of `carpool watch --state`, which holds the cursor of the last event.
struct CursorFile {
    private let path: String
    private var cursor: String?
    private var isSaved = true
    /// The time by which the cursor is written; far in the future while it is saved.
    private(set) var due = CursorFile.never

    private static let never = MonotonicTime(nanoseconds: .max)
    /// The maximum delay of a write, so that many events cost one write.
    private static let delayMilliseconds = 1_000
    /// The maximum that is read; a cursor is much shorter.
    private static let mostBytes = 256

    init(_ path: String) { self.path = path }

    /// Reads the cursor of an earlier run; returns `nil` if there is no file.
    func read() throws(Failure) -> String? {
        do throws(SystemError) {
            let bytes = try NamedPath.read(path, atMost: CursorFile.mostBytes)
            return bytes.isEmpty ? nil : String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
        } catch {
            guard error.code != ENOENT else { return nil }
            throw Failure(.usage, "cannot read the state file (--state): \(error)")
        }
    }

    /// Sets the cursor, which is written within a second.
    mutating func note(_ cursor: String) {
        self.cursor = cursor
        if isSaved { due = MonotonicTime.read().advanced(milliseconds: CursorFile.delayMilliseconds) }
        isSaved = false
    }

    /// Writes the cursor. The file is replaced atomically.
    mutating func save() throws(Failure) {
        guard !isSaved, let cursor else { return }
        isSaved = true
        due = CursorFile.never
        do throws(SystemError) {
            let file = try OutputFile(path)
            try BlockingOutput(borrowing: file.descriptor.raw, isNamed: true).write(Array("\(cursor)\n".utf8))
            try file.commit()
        } catch {
            throw Failure(.transferFailed, "cannot write the state file (--state): \(error)")
        }
    }
}
