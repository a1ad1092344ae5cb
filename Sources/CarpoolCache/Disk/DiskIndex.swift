internal import CSQLite
internal import CarpoolSystem

/// The rows of a disk store, in `index.db`: keys, heads, small bodies, and what the body files must contain. One thread
/// at a time uses it.
///
/// Rows are written in transactions that stay open over several jobs: what follows on this connection sees them.
final class DiskIndex {
    private let database: Database
    private(set) var entries = 0
    /// The bytes that the entries take, their files included.
    private(set) var bytes = 0
    /// The rows that the open transaction has changed; `nil` without a transaction.
    private(set) var changedRows: Int?
    /// What the open transaction has removed or replaced. If it is lost, that has to be done again, or old responses
    /// would be used again.
    private(set) var uncommitted: [DiskRemoval] = []

    /// The rows of a transaction.
    static let rowsPerTransaction = 64
    /// The variants of a key.
    static let maximumVariants = 16
    private static let schemaVersion: Int64 = 1
    /// About how many bytes a row takes besides head, URL and body: keys, numbers and three indexes.
    private static let rowOverhead = 160
    /// How long the check after an unclean end may take; a longer one is given up, and damage is found on use.
    private static let checkMilliseconds = 2_000

    /// Opens an index, or makes one in an empty file.
    /// - Parameter isChecked: whether to search for damage.
    init(path: String, isChecked: Bool) throws(DiskError) {
        database = try Database(path: path)
        // Exclusive first: then no other process can open it, and the log needs no shared memory.
        try database.run("PRAGMA locking_mode = EXCLUSIVE")
        try database.run("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -1024")
        let version = try database.integer("PRAGMA user_version") ?? 0
        let tables = try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0
        guard version == DiskIndex.schemaVersion || version == 0 && tables == 0 else {
            throw DiskError(.otherVersion, "index.db: schema \(version) is not \(DiskIndex.schemaVersion)")
        }
        if version == 0 { try database.run("PRAGMA auto_vacuum = INCREMENTAL") }
        try database.run(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304")
        // The first writing transaction takes the lock, also of an index that is only read.
        try database.run("BEGIN IMMEDIATE")
        if version == 0 { try database.run(DiskIndex.schema) }
        try database.run("COMMIT")
        if isChecked { try check() }
        try database.forEach("SELECT count(*), total(size) FROM entries INDEXED BY by_use") { row in
            (entries, bytes) = (row.count(0), row.count(1))
            return false
        }
    }

    private static let schema = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, key BLOB NOT NULL, variant INTEGER NOT NULL, size INTEGER NOT NULL,
            received INTEGER NOT NULL, last_use INTEGER NOT NULL, expires INTEGER, hits INTEGER NOT NULL,
            invalidated INTEGER NOT NULL, length INTEGER NOT NULL, checksum INTEGER NOT NULL,
            has_file INTEGER NOT NULL, url BLOB NOT NULL, head BLOB NOT NULL, body BLOB
        ) STRICT;
        CREATE UNIQUE INDEX by_key ON entries (key, variant);
        CREATE INDEX by_use ON entries (last_use, size);
        CREATE INDEX by_expiry ON entries (expires) WHERE expires IS NOT NULL;
        PRAGMA user_version = 1;
        """

    private func check() throws(DiskError) {
        let end = MonotonicTime.read().advanced(milliseconds: DiskIndex.checkMilliseconds)
        var isOver = false
        let test: () -> Bool = {
            isOver = MonotonicTime.read() > end
            return isOver
        }
        do throws(DiskError) {
            let result = try database.interruptible(when: test) { () throws(DiskError) in
                try database.text("PRAGMA quick_check(1)")
            }
            guard result == "ok" else { throw DiskError(.corrupt, "index.db: \(result ?? "no result")") }
        } catch {
            guard isOver, error.kind != .corrupt else { throw error }
        }
    }

    /// The hashes of all keys, once for each variant.
    func keyHashes() throws(DiskError) -> [UInt64] {
        var hashes: [UInt64] = []
        hashes.reserveCapacity(entries)
        try database.forEach("SELECT key FROM entries INDEXED BY by_key") { row in
            if let key = DiskKey(row.bytes(0)) { hashes.append(key.hash) }
            return true
        }
        return hashes
    }
}

// MARK: Transactions

extension DiskIndex {
    /// Notes a change of rows, in a transaction.
    private func begin(_ removal: DiskRemoval? = nil) throws(DiskError) {
        if changedRows == nil {
            try database.run("BEGIN IMMEDIATE")
            changedRows = 0
        }
        if let removal { uncommitted.append(removal) }
        changedRows = (changedRows ?? 0) + 1
    }

    /// Ends the open transaction.
    func commit() throws(DiskError) {
        guard changedRows != nil else { return }
        try database.run("COMMIT")
        changedRows = nil
        uncommitted = []
    }

    /// Returns pages without content to the file system, a bounded number of them.
    func shrink() throws(DiskError) {
        guard try database.integer("PRAGMA freelist_count") ?? 0 > 1_024 else { return }
        try commit()
        try database.run("PRAGMA incremental_vacuum(1024)")
    }
}

// MARK: Writing

extension DiskIndex {
    /// Writes a row in place of the variant of its key that is for the same requests; returns what it has removed.
    func insert(_ row: DiskRow) throws(DiskError) -> [RemovedRow] {
        let variant = ResponseCoding.variant(of: row.response)
        var removed = try replaced(under: row.key, variant: variant, by: row.id)
        let head = ResponseCoding.encode(row.response)
        let size = DiskIndex.size(
            head: head.count, url: row.url.utf8.count, length: row.length, hasFile: row.body == nil)
        try begin()
        try database.change(
            """
            INSERT OR REPLACE INTO entries (id, key, variant, size, received, last_use, expires, hits, invalidated,
            length, checksum, has_file, url, head, body)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            """, .integer(row.id), .bytes(row.key.bytes), .integer(variant), .integer(Int64(size)),
            .integer(row.response.received.wall), .integer(row.lastUse), row.usableUntil.map { .integer($0) } ?? .null,
            .integer(Int64(row.hits)), .integer(row.response.isInvalidated ? 1 : 0), .integer(Int64(row.length)),
            .integer(Int64(row.checksum)), .integer(row.body == nil ? 1 : 0), .bytes(Array(row.url.utf8)),
            .bytes(head), row.body.map { .bytes($0) } ?? .null)
        entries += 1
        bytes += size
        let surplus = try select(
            "key = ?1 AND id != ?2 ORDER BY last_use DESC LIMIT -1 OFFSET ?3", .bytes(row.key.bytes),
            .integer(row.id), .integer(Int64(DiskIndex.maximumVariants - 1)))
        removed += try delete(surplus)
        return removed
    }

    /// Replaces the head of a row after a validation; returns what it has removed: another row that is now for the same
    /// requests.
    func replaceHead(
        id: Int64, key: DiskKey, response: CachedResponse, usableUntil: Int64?
    ) throws(DiskError) -> [RemovedRow] {
        guard let old = try select("id = ?1", .integer(id)).first else { return [] }
        let variant = ResponseCoding.variant(of: response)
        let removed = try replaced(under: key, variant: variant, by: id)
        let head = ResponseCoding.encode(response)
        try begin(DiskRemoval(filter: .ids([id]), isSoft: false))
        try database.change(
            """
            UPDATE entries SET variant = ?2, head = ?3, received = ?4, expires = ?5, invalidated = ?6,
            size = length(?3) + length(url) + ?7 + CASE WHEN has_file THEN (length + 4095) / 4096 * 4096 ELSE length END
            WHERE id = ?1
            """, .integer(id), .integer(variant), .bytes(head), .integer(response.received.wall),
            usableUntil.map { .integer($0) } ?? .null, .integer(response.isInvalidated ? 1 : 0),
            .integer(Int64(DiskIndex.rowOverhead)))
        try database.forEach("SELECT size FROM entries WHERE id = ?1", .integer(id)) { row in
            bytes += row.count(0) - old.size
            return false
        }
        return removed
    }

    private func replaced(under key: DiskKey, variant: Int64, by id: Int64) throws(DiskError) -> [RemovedRow] {
        let old = try select(
            "key = ?1 AND variant = ?2 AND id != ?3", .bytes(key.bytes), .integer(variant), .integer(id))
        return try delete(old)
    }

    /// Notes the use of a row.
    func touch(id: Int64, at time: Int64, hits: Int) throws(DiskError) {
        try begin()
        try database.change(
            "UPDATE entries SET last_use = ?2, hits = ?3 WHERE id = ?1", .integer(id), .integer(time),
            .integer(Int64(hits)))
    }

    /// Removes rows.
    func delete(_ rows: [RemovedRow]) throws(DiskError) -> [RemovedRow] {
        for row in rows {
            try begin(DiskRemoval(filter: .ids([row.id]), isSoft: false))
            guard try database.change("DELETE FROM entries WHERE id = ?1", .integer(row.id)) > 0 else { continue }
            entries -= 1
            bytes -= row.size
        }
        return rows
    }

    /// Marks rows as not usable without validation.
    func invalidate(_ rows: [RemovedRow]) throws(DiskError) {
        for row in rows {
            try begin(DiskRemoval(filter: .ids([row.id]), isSoft: true))
            try database.change("UPDATE entries SET invalidated = 1 WHERE id = ?1", .integer(row.id))
        }
    }

    private static func size(head: Int, url: Int, length: Int, hasFile: Bool) -> Int {
        head + url + rowOverhead + (hasFile ? (length + 4_095) / 4_096 * 4_096 : length)
    }
}

// MARK: Finding

extension DiskIndex {
    /// What is known of rows that are to be removed.
    func select(_ condition: String, _ values: Statement.Value...) throws(DiskError) -> [RemovedRow] {
        var rows: [RemovedRow] = []
        try database.statement("SELECT id, key, size, has_file FROM entries WHERE \(condition)").run(values) { row in
            let key = DiskKey(row.bytes(1)) ?? DiskKey(high: 0, low: 0)
            rows.append(
                RemovedRow(id: row.integer(0), key: key, size: row.count(2), hasFile: row.integer(3) != 0))
            return true
        }
        return rows
    }

    /// The rows that a filter names, by their numbers, after one of them.
    func find(_ filter: DiskFilter, after id: Int64, limit: Int) throws(DiskError) -> [RemovedRow] {
        if case .ids(let ids) = filter {
            var found: [RemovedRow] = []
            for id in ids { found += try select("id = ?1", .integer(id)) }
            return found
        }
        return try select(
            "\(filter.condition) AND id > ?2 ORDER BY id LIMIT ?3", filter.value, .integer(id), .integer(Int64(limit)))
    }

    /// The rows to evict next: those that are of no use any more, then the least recently used.
    func evictable(at now: Int64, limit: Int) throws(DiskError) -> [RemovedRow] {
        let expired = try select("expires < ?1 ORDER BY expires LIMIT ?2", .integer(now), .integer(Int64(limit)))
        guard expired.isEmpty else { return expired }
        return try select("1 ORDER BY last_use LIMIT ?1", .integer(Int64(limit)))
    }

    /// Whether any row is under a key.
    func has(_ key: DiskKey) throws(DiskError) -> Bool {
        try database.integer("SELECT 1 FROM entries WHERE key = ?1 LIMIT 1", .bytes(key.bytes)) != nil
    }

    /// Whether a row names a body file.
    func hasFile(_ id: Int64) throws(DiskError) -> Bool {
        try database.integer("SELECT 1 FROM entries WHERE id = ?1 AND has_file", .integer(id)) != nil
    }

    /// The rows under a key, the newest first; those that cannot be read are passed to `damaged`.
    func load(_ key: DiskKey, url: String, damaged: (Int64) -> Void) throws(DiskError) -> [StoredRow] {
        var rows: [StoredRow] = []
        try database.forEach(
            """
            SELECT id, head, invalidated, length, checksum, has_file, last_use, hits, url, body FROM entries
            WHERE key = ?1 ORDER BY received DESC LIMIT 64
            """, .bytes(key.bytes)
        ) { row in
            guard row.bytes(8).elementsEqual(url.utf8), let stored = DiskIndex.read(row) else {
                damaged(row.integer(0))
                return true
            }
            rows.append(stored)
            return true
        }
        return rows
    }

    private static func read(_ row: Statement) -> StoredRow? {
        let (id, length, isFile) = (row.integer(0), row.integer(3), row.integer(5) != 0)
        guard var response = ResponseCoding.decode(row.bytes(1)), Int64(response.bodyBytes) == length,
            let checksum = UInt32(exactly: row.integer(4))
        else { return nil }
        if row.integer(2) != 0 { response.isInvalidated = true }
        let body: CacheBody
        if isFile {
            body = .file(StoredBodyFile(id: id, length: Int(length), checksum: checksum))
        } else {
            let bytes = row.bytes(9)
            guard bytes.count == Int(length), CRC32C.value(of: bytes) == checksum else { return nil }
            body = .memory(bytes)
        }
        return StoredRow(
            id: id, response: response, body: body, lastUse: row.integer(6), hits: row.count(7))
    }

    /// The rows that a filter names, with their heads.
    func list(_ filter: DiskFilter, after id: Int64, limit: Int) throws(DiskError) -> [DiskListRow] {
        var rows: [DiskListRow] = []
        try database.forEach(
            """
            SELECT id, key, url, head, invalidated, length, last_use, hits FROM entries
            WHERE \(filter.condition) AND id > ?2 ORDER BY id LIMIT ?3
            """, filter.value, .integer(id), .integer(Int64(limit))
        ) { row in
            guard let key = DiskKey(row.bytes(1)), var response = ResponseCoding.decode(row.bytes(3)) else {
                return true
            }
            if row.integer(4) != 0 { response.isInvalidated = true }
            rows.append(
                DiskListRow(
                    id: row.integer(0), key: key, url: String(decoding: row.bytes(2), as: UTF8.self),
                    response: response, length: row.count(5), lastUse: row.integer(6),
                    hits: row.count(7)))
            return true
        }
        return rows
    }
}
