internal import CarpoolSystem
internal import Glibc

/// The file in which a watcher keeps where it has stopped.
struct CursorFile {
    private let path: String
    private var cursor: String?
    private var isSaved = true
    /// When what is noted has to be written; far away while all is.
    private(set) var due = CursorFile.never

    private static let never = MonotonicTime(nanoseconds: .max)
    /// How long a cursor may wait to be written: a disk need not hear of each of a thousand events in a second.
    private static let delayMilliseconds = 1_000
    /// The most that is read; a cursor is much shorter.
    private static let mostBytes = 256

    init(_ path: String) { self.path = path }

    /// The cursor that an earlier watcher has left; `nil` without one.
    func read() throws(Failure) -> String? {
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, O_RDONLY)
            var bytes = [UInt8](repeating: 0, count: CursorFile.mostBytes)
            switch bytes.withUnsafeMutableBytes({ Bytes.read(file.raw, into: $0) }) {
            case .bytes(let count): return String(decoding: bytes[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
            case .endOfFile, .wouldBlock: return nil
            case .failed(let code): throw SystemError(code: code, operation: "read", subject: path)
            }
        } catch {
            guard error.code != ENOENT else { return nil }
            throw Failure(.usage, "cannot read the state: \(error)")
        }
    }

    /// Notes where the watcher is, to be written within a second.
    mutating func note(_ cursor: String) {
        self.cursor = cursor
        if isSaved { due = MonotonicTime.read().advanced(milliseconds: CursorFile.delayMilliseconds) }
        isSaved = false
    }

    /// Writes what is noted. The file has the old cursor or the new one, whatever happens meanwhile.
    mutating func save() throws(Failure) {
        guard !isSaved, let cursor else { return }
        isSaved = true
        due = CursorFile.never
        do throws(SystemError) {
            let file = try OutputFile(path)
            try BlockingOutput(borrowing: file.descriptor.raw).write(Array("\(cursor)\n".utf8))
            try file.commit()
        } catch {
            throw Failure(.transferFailed, "cannot keep the state: \(error)")
        }
    }
}
