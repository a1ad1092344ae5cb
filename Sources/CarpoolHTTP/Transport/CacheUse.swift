/// How a hop uses a store of responses. An immutable object, because every copy of a request has a reference to it, and
/// the requests of a session usually share one.
public final class CacheUse: Sendable {
    /// The values by name.
    public struct Values: Sendable {
        /// The store.
        public var store: CacheStoreName
        /// The settings of the store.
        public var settings = CacheSettings()
        /// How stored responses are used.
        public var policy = RequestCachePolicy.useProtocol
        /// Whether ``RequestCachePolicy/reloadIgnoringCache`` also asks caches on the way to ask the origin.
        public var ignoresRemote = false
        /// The freshness of the response in place of the one that it says, in milliseconds; `nil` for what it says.
        public var ttlMilliseconds: Int?
        /// Whether nothing is read from the store and nothing stored, because of the kind of the request.
        public var isExcluded = false
        /// Whether the response may be stored.
        public var stores = true
        /// Whether the request may share the response to an identical one that is under way.
        public var coalesces = true
        /// Whether a stale response may be served while a request in the background asks the origin.
        public var revalidatesInBackground = true
        /// What identifies the caller to the origin but is not among the fields of the request, such as a credential
        /// that answers a challenge. Only its hash is kept. Empty for none.
        public var credential: [UInt8] = []

        /// The defaults, with a store.
        public init(store: CacheStoreName) { self.store = store }
    }

    /// The values by name.
    public let values: Values

    /// Makes a use.
    public init(_ values: Values) { self.values = values }
}

/// The name of a store. Users never share one.
public struct CacheStoreName: Hashable, Sendable {
    /// The user; `nil` for the process's own.
    public let user: UInt32?
    /// The name: that of a session, or one that sessions chose to share.
    public let name: String
    /// Whether sessions chose the name to share the store.
    public let isShared: Bool

    /// Makes a name.
    public init(user: UInt32?, name: String, isShared: Bool = false) {
        self.user = user
        self.name = name
        self.isShared = isShared
    }

    /// Whether it comes before another one of the same user in lists.
    public func precedes(_ other: CacheStoreName) -> Bool {
        (name, isShared ? 1 : 0) < (other.name, other.isShared ? 1 : 0)
    }
}
