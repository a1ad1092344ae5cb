internal import CarpoolCache
internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Writes what the cache has done, and what is stored.
enum CacheWriter {
    /// The member `cache` of a record or of a hop.
    static func write(_ outcome: CacheOutcome, to writer: inout JSONWriter) {
        writer.key("cache")
        writer.beginObject()
        writer.member("status", outcome.status.rawValue)
        if let forward = outcome.forward { writer.member("fwd", forward.rawValue) }
        writer.member("reason", outcome.reason)
        if let age = outcome.ageMilliseconds { writer.member("age_ms", age) }
        if let ttl = outcome.ttlMilliseconds { writer.member("ttl_ms", ttl) }
        writer.member("stored", outcome.isStored)
        writer.endObject()
    }

    /// Where a response came from.
    static func fetchType(of outcome: CacheOutcome) -> String {
        switch outcome.status {
        case .hit, .stale, .collapsed: "local_cache"
        case .revalidated, .miss, .bypass: "network"
        }
    }

    /// The members of an event of a store.
    static func write(_ event: CacheEvent, _ record: RecordWriter, to writer: inout JSONWriter) {
        switch event {
        case .stored(let url, let status, let bytes, let ttl, let storage):
            record.write(url: url, record.eventDetail, to: &writer)
            writer.member("status", status)
            writer.member("size_bytes", bytes)
            if let ttl, ttl >= 0 { writer.member("ttl_ms", ttl) }
            writer.member("storage", storage.rawValue)
        case .revalidated(let url):
            record.write(url: url, record.eventDetail, to: &writer)
            writer.member("background", true)
        case .invalidated(let url, let count, let cause):
            if let url { record.write(url: url, record.eventDetail, to: &writer) }
            writer.member("entries", count)
            writer.member("cause", cause.rawValue)
        case .evicted(let count, let bytes):
            writer.member("entries", count)
            writer.member("size_bytes", bytes)
        case .writeFailed(let message, let code):
            writer.member("message", message)
            if let code { writer.member("errno", Int(code)) }
        }
    }

    /// A stored response.
    static func write(_ entry: CachedResponseSummary, _ record: RecordWriter, to writer: inout JSONWriter) {
        writer.beginObject()
        record.write(url: entry.url, record.eventDetail, to: &writer)
        writer.member("status", entry.response.status)
        writer.member("size_bytes", entry.bodyBytes)
        writer.member("stored_at", time: entry.response.received.wall &* 1_000)
        writer.member("age_ms", Int(max(0, entry.ageMilliseconds)))
        if let fresh = entry.freshForMilliseconds { writer.member("fresh_for_ms", Int(fresh)) }
        writer.key("validators")
        writer.beginObject()
        if let tag = entry.response.fields.first("etag") {
            writer.member("etag", TruncatedText.of(tag, bytes: CacheWriter.valueBytes))
        }
        if let date = entry.response.fields.first("last-modified") {
            writer.member("last_modified", TruncatedText.of(date, bytes: CacheWriter.valueBytes))
        }
        writer.endObject()
        writer.member(
            "vary", entry.response.vary.prefix(CacheWriter.varyFields).map { TruncatedText.of($0.name, bytes: 256) })
        writer.member("where", entry.isOnDisk ? "disk" : "memory")
        writer.member("hits", entry.hits)
        if let location = location(of: entry) {
            writer.member("location", TruncatedText.of(record.shown(location), bytes: CacheWriter.locationBytes))
        }
        writer.member("store", entry.store.name)
        writer.endObject()
    }

    /// The URL that a stored redirect leads to; `nil` for other responses.
    private static func location(of entry: CachedResponseSummary) -> String? {
        guard (300..<400).contains(entry.response.status), let field = entry.response.fields.first("location") else {
            return nil
        }
        return (try? HTTPURL(entry.url).resolving(field))?.description
    }

    private static let valueBytes = 256
    private static let locationBytes = 2_045
    private static let varyFields = 32

    /// The statistics of a store.
    static func write(_ store: CacheStoreStatistics, to writer: inout JSONWriter) {
        let counters = store.counters
        writer.beginObject()
        writer.member("store", store.name.name)
        if !store.name.isShared { writer.member("session", store.name.name) }
        writer.member("shared", store.name.isShared)
        writer.member("entries", store.entries)
        writer.member("memory_bytes", store.memoryBytes)
        writer.member("disk_bytes", store.diskBytes)
        if let fault = store.diskFault { writer.member("disk_fault", fault) }
        writer.key("counters")
        writer.beginObject()
        writer.member("hits", counters.hits)
        writer.member("stale", counters.staleHits)
        writer.member("revalidated", counters.revalidated)
        writer.member("collapsed", counters.collapsed)
        writer.member("misses", counters.misses)
        writer.member("bypassed", counters.bypassed)
        writer.member("waits", counters.waits)
        writer.member("stored", counters.stored)
        writer.member("invalidated", counters.invalidated)
        writer.member("evicted", counters.evicted)
        writer.member("corrupt", counters.corrupt)
        writer.member("write_failures", counters.writeFailures)
        writer.member("saved_bytes", counters.savedBytes)
        writer.key("reasons")
        writer.beginObject()
        for (reason, count) in counters.reasons.sorted(by: { $0.key < $1.key }) {
            writer.key(reason)
            writer.integer(Int64(count))
        }
        writer.endObject()
        writer.endObject()
        writer.endObject()
    }
}
