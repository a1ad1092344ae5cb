internal import CSQLite

/// A prepared statement of a database.
final class Statement {
    /// A parameter.
    enum Value {
        case integer(Int64)
        case bytes([UInt8])
        case null
    }

    private let handle: OpaquePointer
    private let database: OpaquePointer
    /// Tells SQLite to copy what is bound.
    private static let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ sql: String, in database: OpaquePointer) throws(DiskError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw DiskError(code, of: database) }
        handle = prepared
        self.database = database
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs it with parameters, and passes each row to the body until that returns false.
    func run(_ values: [Value], row body: (Statement) -> Bool) throws(DiskError) {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        for (place, value) in values.enumerated() { try bind(value, at: Int32(place + 1)) }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: if !body(self) { return }
            case SQLITE_DONE: return
            case let code: throw DiskError(code, of: database)
            }
        }
    }

    private func bind(_ value: Value, at place: Int32) throws(DiskError) {
        let code: Int32 =
            switch value {
            case .integer(let number): sqlite3_bind_int64(handle, place, number)
            case .null: sqlite3_bind_null(handle, place)
            case .bytes(let bytes):
                bytes.withUnsafeBytes { buffer in
                    // Without an address it would be null and not empty.
                    buffer.isEmpty
                        ? sqlite3_bind_zeroblob(handle, place, 0)
                        : sqlite3_bind_blob64(
                            handle, place, buffer.baseAddress, UInt64(buffer.count), Statement.copies)
                }
            }
        guard code == SQLITE_OK else { throw DiskError(code, of: database) }
    }

    /// More than any count of a store.
    static let maximumCount: Int64 = 1 << 40

    /// The number in a column of the row.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The number in a column of the row that counts something: a damaged row may have any.
    func count(_ column: Int32) -> Int { Int(clamping: min(max(0, integer(column)), Statement.maximumCount)) }

    /// The bytes in a column of the row.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
