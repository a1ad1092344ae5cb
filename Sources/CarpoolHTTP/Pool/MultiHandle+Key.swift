// What the connections of a handle have in common.
extension MultiHandle {
    /// The properties that requests must share to use one pool of connections.
    struct Key: Hashable {
        let partition: ConnectionPartition
        let httpProtocol: HTTPProtocol
        /// Whether its transfers are long. They have connections of their own: a paused stream would block the others
        /// on its connection, or make libcurl buffer tens of megabytes of it.
        let isLong: Bool
        /// Whether the certificates of its servers are described (``TransportRequest/needsCertificates``), which is
        /// possible only in the handshake.
        var hasCertificates = false
    }

    /// A handle among those with the same key. Origins are spread over several handles: one call of libcurl handles
    /// everything that is due on any connection of a handle, and an origin over HTTP/2 can make all its streams due
    /// at once; and for each new connection libcurl walks all names that the handle has resolved within a minute.
    struct ShardKey: Hashable {
        let key: Key
        let shard: Int

        private static let shards = 16
        private static let multiplexedShards = 256

        /// The handle of an origin. The hash is seeded, so that clients cannot choose origins that share one.
        init(key: Key, origin: Origin) {
            self.key = key
            let count = key.httpProtocol == .multiplexed ? ShardKey.multiplexedShards : ShardKey.shards
            shard = origin.hashValue & (count - 1)
        }
    }

    /// The HTTP versions that its connections may negotiate.
    enum HTTPProtocol: Hashable {
        case http1
        /// HTTP/2, one stream at a time on a connection.
        case singleStream
        /// HTTP/2.
        case multiplexed
    }
}
