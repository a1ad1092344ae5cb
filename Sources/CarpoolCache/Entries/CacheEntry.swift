internal import CarpoolHTTP

/// A stored response with its body. Used on the loop only.
public final class CacheEntry {
    /// A random number of 63 bits, by which the disk store knows the entry.
    public let id: Int64
    /// The key.
    public let key: CacheKey
    /// The head; a 304 replaces it.
    public var response: CachedResponse
    /// The body.
    public var body: CacheBody
    /// Whether the disk store has it, or has a job to write it.
    public var isOnDisk = false
    /// The file that the disk store has of the body, while its bytes are in memory too.
    public var savedFile: StoredBodyFile?
    /// How many requests it has answered.
    public var hits = 0
    /// The last time that it answered a request, or was stored.
    public var lastUse: CacheTime

    /// Makes an entry that is not on disk.
    public init(
        id: Int64 = CacheEntry.makeID(), key: CacheKey, response: CachedResponse, body: CacheBody, lastUse: CacheTime
    ) {
        self.id = id
        self.key = key
        self.response = response
        self.body = body
        self.lastUse = lastUse
    }

    /// A new number for an entry.
    public static func makeID() -> Int64 { Int64.random(in: 1...Int64.max) }

    /// The number of bytes of memory that it takes: a file counts nothing.
    public var memoryBytes: Int {
        var bytes = CacheEntry.overheadBytes &+ key.url.utf8.count &+ response.fields.memoryBytes
        for field in response.vary { bytes &+= 64 &+ field.name.utf8.count &+ (field.value?.count ?? 0) }
        bytes &+= response.credentials?.count ?? 0
        if case .memory(let body) = body { bytes &+= body.capacity }
        return bytes
    }

    /// The objects and table rows of an entry, whatever its content.
    private static let overheadBytes = 512
}
