internal import CarpoolSystem
internal import Glibc

/// Index and body files of a disk store. A failure closes it, and it has to be opened again.
///
/// `@unchecked Sendable` because the jobs that use it run in order, one at a time (``WorkerQueue``).
final class DiskVault: @unchecked Sendable {
    /// What an opening found.
    struct Opened: Sendable {
        /// The hashes of all keys, once for each variant; `nil` if they are known from an earlier opening.
        let hashes: [UInt64]?
        /// The key of the store; `nil` if its file cannot be used.
        let key: [UInt8]?
        /// Why the index was set aside; `nil` if it was not.
        let replacedBecause: String?
        /// The body files.
        let files: BodyFiles
    }

    private let place: String
    private var index: DiskIndex?
    private var files = BodyFiles(folder: "")
    /// The index file, by which it is noticed that the folder has been removed.
    private var identity: FileStatus.Identity?
    private var key: [UInt8]?
    /// Whether the hashes of the keys have been read since the index was made.
    private var hasHashes = false
    /// The hashes of keys without a row since the last report.
    private var gone: Set<UInt64> = []

    init(folder: String) { place = folder }

    /// Runs a part of a job on the index, and ends the transaction if it is long enough.
    func perform<Value: Sendable>(_ body: (DiskIndex) throws(DiskError) -> Value) -> DiskReport<Value> {
        guard let index else { return DiskReport(.failure(.closed)) }
        do throws(DiskError) {
            if index.changedRows == nil { try checkFolder() }
            let value = try body(index)
            if let changed = index.changedRows, changed >= DiskIndex.rowsPerTransaction { try index.commit() }
            return report(.success(value))
        } catch {
            return fail(error)
        }
    }

    private func report<Value>(_ result: Result<Value, DiskError>) -> DiskReport<Value> {
        var report = DiskReport(result)
        report.totals = index.map { DiskTotals(entries: $0.entries, bytes: $0.bytes) }
        report.hasOpenTransaction = index?.changedRows != nil
        report.gone = Array(gone)
        gone = []
        return report
    }

    /// Closes the index; what its open transaction has removed is lost and reported.
    private func fail<Value>(_ error: DiskError) -> DiskReport<Value> {
        let lost = index?.uncommitted ?? []
        index = nil
        if error.kind == .corrupt { IndexFile.setAside(in: files.folder) }
        if error.kind == .corrupt || error.kind == .folderLost { hasHashes = false }
        var report: DiskReport<Value> = report(.failure(error))
        report.lost = lost
        return report
    }

    /// Ends the open transaction.
    func commit() -> DiskReport<Void> { perform { index throws(DiskError) in try index.commit() } }

    /// Commits and closes.
    /// - Parameter removes: whether the index must be removed, because it has rows that must not be used again.
    func close(removes: Bool) {
        if let index { try? index.commit() }
        index = nil
        if removes, !files.folder.isEmpty { IndexFile.remove(in: files.folder) }
    }

    private func checkFolder() throws(DiskError) {
        guard let identity, IndexFile.identity(in: files.folder) == identity else {
            throw DiskError(.folderLost, "\(files.folder): the folder has been removed or replaced")
        }
    }
}

// MARK: Opening

extension DiskVault {
    /// Opens the store: makes what is missing, and sets an index aside that cannot be used.
    func open() -> DiskReport<Opened> {
        index = nil
        do throws(DiskError) {
            return report(.success(try openOrThrow()))
        } catch {
            return fail(error)
        }
    }

    private func openOrThrow() throws(DiskError) -> Opened {
        do throws(SystemError) {
            let folder = try Folder.resolve(place)
            try PrivateDirectory.create(folder)
            files = BodyFiles(folder: folder)
        } catch {
            throw DiskError(error)
        }
        let (opened, reason) = try openIndex()
        index = opened
        // Only the process that has the index removes what an earlier run has not completed.
        try files.prepare()
        identity = IndexFile.identity(in: files.folder)
        if reason != nil { hasHashes = false }
        let hashes = hasHashes ? nil : try opened.keyHashes()
        hasHashes = true
        // The index is locked now, so that no other process makes a key.
        do throws(DiskError) { key = try StoreKeyFile.open(in: files.folder, known: key) } catch {
            if error.isShortage { throw error }
            key = nil
        }
        return Opened(hashes: hashes, key: key, replacedBecause: reason, files: files)
    }

    private func openIndex() throws(DiskError) -> (DiskIndex, reason: String?) {
        do throws(DiskError) {
            return (try IndexFile.open(in: files.folder), nil)
        } catch {
            guard error.kind == .corrupt || error.kind == .otherVersion else { throw error }
            IndexFile.setAside(in: files.folder)
            hasHashes = false
            return (try IndexFile.open(in: files.folder), error.kind == .corrupt ? error.description : nil)
        }
    }
}

// MARK: Entries

extension DiskVault {
    /// Writes an entry; `nil` if it must not be written.
    func save(_ row: DiskRow, body: [UInt8]) -> DiskReport<DiskSaved?> {
        perform { index throws(DiskError) in
            // Without the key, nothing could recognise the credentials in the next run.
            guard row.response.credentials == nil || key != nil else { return nil }
            let row = row.with(body)
            if row.body == nil { try files.write(body, id: row.id) }
            discard(try index.insert(row), except: row.key)
            guard row.body == nil else { return DiskSaved(file: nil) }
            return DiskSaved(file: StoredBodyFile(id: row.id, length: row.length, checksum: row.checksum))
        }
    }

    func replaceHead(id: Int64, key: DiskKey, response: CachedResponse, usableUntil: Int64?) -> DiskReport<Void> {
        perform { index throws(DiskError) in
            let removed = try index.replaceHead(id: id, key: key, response: response, usableUntil: usableUntil)
            discard(removed, except: key)
        }
    }

    /// The variants under a key; those that are damaged are removed. The second part of the result is their number.
    func load(_ key: DiskKey, url: String) -> DiskReport<(rows: [StoredRow], damaged: Int)> {
        perform { index throws(DiskError) in
            var damaged: [Int64] = []
            var rows = try index.load(key, url: url) { damaged.append($0) }
            rows.removeAll { row in
                guard case .file(let file) = row.body, !files.exists(file) else { return false }
                damaged.append(row.id)
                return true
            }
            if !damaged.isEmpty { try remove(.ids(damaged), from: index) }
            if rows.isEmpty { gone.insert(key.hash) }
            return (rows, damaged.count)
        }
    }

    func touch(_ uses: [DiskUse]) -> DiskReport<Void> {
        perform { index throws(DiskError) in
            for use in uses { try index.touch(id: use.id, at: use.time, hits: use.hits) }
        }
    }

    /// Removes or marks up to `limit` entries that a filter names, after one of them; returns how many, and the last of
    /// them if there may be more.
    func remove(_ removal: DiskRemoval, after id: Int64, limit: Int) -> DiskReport<(count: Int, next: Int64?)> {
        perform { index throws(DiskError) in
            let rows = try index.find(removal.filter, after: id, limit: limit)
            if removal.isSoft {
                try index.invalidate(rows)
            } else {
                discard(try index.delete(rows))
                try index.shrink()
            }
            if case .ids = removal.filter { return (rows.count, nil) }
            if case .all = removal.filter, !removal.isSoft, rows.count < limit {
                IndexFile.removeSetAside(in: files.folder)
            }
            return (rows.count, rows.count == limit ? rows.last?.id : nil)
        }
    }

    private func remove(_ filter: DiskFilter, from index: DiskIndex) throws(DiskError) {
        discard(try index.delete(try index.find(filter, after: 0, limit: 64)))
    }

    /// Removes entries until `excess` bytes are free, at most a transaction's rows; returns how many.
    func evict(excess: Int, at now: Int64) -> DiskReport<Int> {
        perform { index throws(DiskError) in
            let candidates = try index.evictable(at: now, limit: DiskIndex.rowsPerTransaction)
            var free = 0
            let rows = candidates.prefix { row in
                defer { free += row.size }
                return free < excess
            }
            discard(try index.delete(Array(rows)))
            return rows.count
        }
    }

    func list(_ filter: DiskFilter, after id: Int64, limit: Int) -> DiskReport<[DiskListRow]> {
        perform { index throws(DiskError) in try index.list(filter, after: id, limit: limit) }
    }

    /// Removes the body files without a row in one of the 256 folders; returns how many files were there.
    func sweep(folder number: Int) -> DiskReport<Int> {
        perform { index throws(DiskError) in
            let ids = files.numbers(inFolder: number)
            for id in ids where try !index.hasFile(id) { files.remove(id) }
            return ids.count
        }
    }

    /// Removes the files of rows that are gone, and notes the keys that have no row any more.
    private func discard(_ rows: [RemovedRow], except key: DiskKey? = nil) {
        for row in rows where row.hasFile { files.remove(row.id) }
        for other in Set(rows.map(\.key)) where other != key {
            if (try? index?.has(other)) == false { gone.insert(other.hash) }
        }
    }
}
