internal import CSQLite

/// A connection to an SQLite database. One thread at a time uses it: for jobs of a worker that run in order.
final class Database {
    private let handle: OpaquePointer
    /// The prepared statements by their text; the number of texts is that of the program.
    private var statements: [String: Statement] = [:]

    /// Opens an existing file, which may be empty. A symbolic link in the path is refused.
    init(path: String) throws(DiskError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened else { throw DiskError(SQLITE_NOMEM, of: nil) }
        guard code == SQLITE_OK else {
            let error = DiskError(code, of: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        sqlite3_busy_timeout(handle, 0)
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Runs statements without parameters, whose rows do not matter.
    func run(_ sql: String) throws(DiskError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw DiskError(code, of: handle) }
    }

    /// The statement of this text, prepared once.
    func statement(_ sql: String) throws(DiskError) -> Statement {
        if let known = statements[sql] { return known }
        let statement = try Statement(sql, in: handle)
        statements[sql] = statement
        return statement
    }

    /// Runs a statement, and passes its rows to the body until that returns false.
    func forEach(
        _ sql: String, _ values: Statement.Value..., row body: (Statement) -> Bool
    ) throws(DiskError) {
        try statement(sql).run(values, row: body)
    }

    /// Runs a statement without rows; returns the number of rows that it has changed.
    @discardableResult
    func change(_ sql: String, _ values: Statement.Value...) throws(DiskError) -> Int {
        try statement(sql).run(values) { _ in true }
        return Int(sqlite3_changes(handle))
    }

    /// The number in the first column of the first row; `nil` without a row.
    func integer(_ sql: String, _ values: Statement.Value...) throws(DiskError) -> Int64? {
        var result: Int64?
        try statement(sql).run(values) { row in
            result = row.integer(0)
            return false
        }
        return result
    }

    /// The text in the first column of the first row; `nil` without a row.
    func text(_ sql: String) throws(DiskError) -> String? {
        var result: String?
        try statement(sql).run([]) { row in
            result = String(decoding: row.bytes(0), as: UTF8.self)
            return false
        }
        return result
    }

    /// Runs a body whose statements end with an error if it has not ended before `shouldStop` returns true, which is
    /// called every 10,000 steps of the virtual machine.
    func interruptible<Result>(
        when shouldStop: @escaping () -> Bool, _ body: () throws(DiskError) -> Result
    ) throws(DiskError) -> Result {
        let context = Unmanaged.passRetained(StopTest(shouldStop))
        sqlite3_progress_handler(
            handle, 10_000,
            { raw in
                guard let raw else { return 0 }
                return Unmanaged<StopTest>.fromOpaque(raw).takeUnretainedValue().test() ? 1 : 0
            }, context.toOpaque())
        defer {
            sqlite3_progress_handler(handle, 0, nil, nil)
            context.release()
        }
        return try body()
    }
}

/// A closure that C can carry.
private final class StopTest {
    let test: () -> Bool
    init(_ test: @escaping () -> Bool) { self.test = test }
}
