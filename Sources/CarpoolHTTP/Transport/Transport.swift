/// Sends requests, one hop each, over a shared pool of connections. It has no policy: redirects, retries and
/// validation are built on top of it.
///
/// Transports can be chained: one that adds a behaviour, such as a delay or a limit, starts its tasks with the next
/// one and forwards their events (``TransferDelegate``).
///
/// Everything happens on one thread, that of the transport's event loop.
public protocol Transport: AnyObject {
    /// Notified of every connection that is opened or closed.
    var connectionObserver: (any ConnectionObserver)? { get set }

    /// Starts sending a request and returns its task. The delegate is called later, never from inside this call, and
    /// is kept until the task has completed.
    func start(_ request: TransportRequest, delegate: any TransferDelegate) -> any TransportTask

    /// Closes every pooled connection that is idle; those in use close when their transfer ends. Returns the number
    /// closed at once.
    @discardableResult func closeIdleConnections() -> Int

    /// Statistics of the pool since the start.
    var statistics: PoolStatistics { get }

    /// The current totals of the pool. They are maintained, so that they cost the same however many origins there
    /// are.
    func load(of users: PoolUsers) -> PoolLoad

    /// The state of each origin: at most `count` origins with numbers above `number`, in order of creation.
    func origins(of users: PoolUsers, after number: Int, atMost count: Int) -> [OriginStatistics]
}

extension Transport {
    /// An empty load.
    public func load(of users: PoolUsers) -> PoolLoad { PoolLoad() }
    /// No origins.
    public func origins(of users: PoolUsers, after number: Int, atMost count: Int) -> [OriginStatistics] { [] }
}

/// Receives the opening and closing of connections.
public protocol ConnectionObserver: AnyObject {
    /// A connection to an origin was established, TLS included. `id` identifies it in ``TransferMetrics/connection``
    /// too; `user` is that of its ``ConnectionPartition``.
    func connectionDidOpen(_ id: Int, origin: Origin, user: UInt32?)
    /// The connection was closed after so many transfers.
    func connectionDidClose(_ id: Int, origin: Origin, user: UInt32?, transfers: Int)
}
