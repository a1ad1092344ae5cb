internal import CarpoolHTTP

/// A row to write.
struct DiskRow: Sendable {
    let id: Int64
    let key: DiskKey
    let url: String
    private(set) var response: CachedResponse
    /// The time after which it is of no use, even for validation; `nil` if that never comes.
    let usableUntil: Int64?
    let lastUse: Int64
    let hits: Int
    /// The number of bytes of the body, and its CRC-32C.
    private(set) var length = 0
    private(set) var checksum: UInt32 = 0
    /// The body; `nil` if it is in a file.
    private(set) var body: [UInt8]?

    /// Bodies of up to this many bytes are in the row.
    static let inlineBytes = 16_384

    /// The row of an entry, without what depends on its body.
    init(_ entry: CacheEntry, key: DiskKey, usableUntil: Int64?) {
        self.key = key
        self.usableUntil = usableUntil
        (id, url, response) = (entry.id, entry.key.url, entry.response)
        (lastUse, hits) = (entry.lastUse.wall, entry.hits)
    }

    /// The same with a body, which is in the row if it is small.
    func with(_ body: [UInt8]) -> DiskRow {
        var row = self
        row.response.bodyBytes = body.count
        row.length = body.count
        row.checksum = CRC32C.value(of: body)
        row.body = body.count <= DiskRow.inlineBytes ? body : nil
        return row
    }
}

/// A row that was read.
struct StoredRow: Sendable {
    let id: Int64
    let response: CachedResponse
    let body: CacheBody
    let lastUse: Int64
    let hits: Int
}

/// What is known of an entry on disk without its body.
struct DiskListRow: Sendable {
    let id: Int64
    let key: DiskKey
    let url: String
    let response: CachedResponse
    let length: Int
    let lastUse: Int64
    let hits: Int
}

/// A row that was removed or marked.
struct RemovedRow: Sendable {
    let id: Int64
    let key: DiskKey
    let size: Int
    /// Whether it has a body file.
    let hasFile: Bool
}

extension CacheEntry {
    /// The entry of a row.
    convenience init(_ row: StoredRow, key: CacheKey) {
        self.init(
            id: row.id, key: key, response: row.response, body: row.body,
            lastUse: CacheTime(wall: row.lastUse, uptime: nil))
        hits = row.hits
        isOnDisk = true
    }
}
