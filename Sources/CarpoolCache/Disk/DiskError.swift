internal import CSQLite
internal import CarpoolSystem

/// Why the disk store could not do its work.
struct DiskError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds that the store distinguishes.
    enum Kind: Sendable {
        /// The index is not open.
        case closed
        /// Another process has the index.
        case inUse
        /// The content of the index cannot be understood.
        case corrupt
        /// The index has the schema of another version.
        case otherVersion
        /// The folder has been removed or replaced.
        case folderLost
        /// The system refuses: no room, an error of the device, no permission.
        case failed
    }

    let kind: Kind
    /// Whether the daemon or the machine was short of a resource, which passes.
    var isShortage = false
    /// What failed, in words.
    let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    init(_ error: SystemError) {
        self.init(.failed, error.description)
        isShortage = error.isShortage
    }

    /// The error of the last call of SQLite on a connection.
    init(_ code: Int32, of connection: OpaquePointer?) {
        let message = connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "no memory"
        let kind: Kind =
            switch code & 0xFF {
            case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
            case SQLITE_BUSY, SQLITE_LOCKED: .inUse
            default: .failed
            }
        self.init(kind, "index.db: \(message) (\(code))")
        isShortage = connection.map { Shortage.noteIfShort(sqlite3_system_errno($0)) } ?? true
    }

    /// The index is not open, because of an earlier failure or because the store is closed.
    static let closed = DiskError(.closed, "the index is not open")
}
