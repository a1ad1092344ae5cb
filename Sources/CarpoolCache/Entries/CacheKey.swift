public import CarpoolHTTP

/// The key of the responses to requests for one URL, without the fields that select among them.
public struct CacheKey: Hashable, Sendable {
    /// Everything besides the URL that changes who answers: proxy, addresses, trust, client certificate.
    public let partition: ConnectionPartition
    /// The URL as sent, without fragment.
    public let url: String

    /// The hash of both, which several tables use for each request.
    private let hash: Int

    /// Makes a key.
    public init(partition: ConnectionPartition, url: String) {
        self.partition = partition
        self.url = url
        var hasher = Hasher()
        hasher.combine(partition)
        var text = url
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hash = hasher.finalize()
    }

    /// Whether both are the same.
    public static func == (a: CacheKey, b: CacheKey) -> Bool {
        a.hash == b.hash && a.partition == b.partition && a.url.utf8.elementsEqual(b.url.utf8)
    }

    /// Its hash was computed when it was made.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The key of a request (HK-01, HK-02).
    init(_ request: TransportRequest) {
        self.init(partition: request.connectionPartition, url: request.url.withoutFragment)
    }
}
