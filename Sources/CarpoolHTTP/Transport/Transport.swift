/// Sends requests, one hop each, over a shared pool of connections: a transfer in, its events out. It holds no policy; whoever
/// wants redirects, retries or validation builds them on top.
///
/// Everything happens on one thread, that of the transport's event loop.
public protocol Transport: AnyObject {
    /// Hears of every connection that is opened or closed.
    var connectionObserver: (any ConnectionObserver)? { get set }

    /// Puts a request in the admission queue and gives the handle of its transfer. Events come later, never from inside this call.
    func start(_ request: TransportRequest, delegate: any TransferDelegate) -> Transfer

    /// Ends a transfer: its delegate hears ``TransferDelegate/transferDidComplete(_:_:)`` with ``TransportError/Code/cancelled``, soon, but not
    /// from inside this call. Does nothing if it has ended. May be called from a delegate's method.
    func cancel(_ transfer: Transfer)

    /// Tells that the transfer's own side holds it up, until ``resumeReceiving(_:)``: the next piece of its body will be answered with
    /// ``BodyDisposition/pause``. Meanwhile no silence of the peer counts as idle time, its connection counts in no limit, and if it has
    /// not been started it is not.
    func holdUp(_ transfer: Transfer)

    /// Goes on with a transfer that was held up, or whose delegate answered ``BodyDisposition/pause``.
    func resumeReceiving(_ transfer: Transfer)

    /// Changes how soon a transfer has its turn, if it still waits for it; it goes behind those of its client that have that priority already.
    func setPriority(_ priority: TransferPriority, of transfer: Transfer)

    /// Closes every pooled connection that is idle; those in use close when their transfer ends. Gives the number closed at once.
    @discardableResult func closeIdleConnections() -> Int

    /// What the pool has done since the start.
    var statistics: PoolStatistics { get }

    /// What the pool holds at this moment, in sum. The sums are kept, so that they cost the same however many origins there are.
    func load(of users: PoolUsers) -> PoolLoad

    /// What the pool holds for each origin: so many of those that came after one, in the order in which they came.
    func origins(of users: PoolUsers, after number: Int, atMost count: Int) -> [OriginStatistics]
}

extension Transport {
    /// Does nothing.
    public func setPriority(_ priority: TransferPriority, of transfer: Transfer) {}
    /// Nothing.
    public func load(of users: PoolUsers) -> PoolLoad { PoolLoad() }
    /// None.
    public func origins(of users: PoolUsers, after number: Int, atMost count: Int) -> [OriginStatistics] { [] }
}

/// Whoever follows transfers. All methods are called on the loop, some from inside libcurl: they may call ``Transport/cancel(_:)``,
/// ``Transport/start(_:delegate:)`` and ``Transport/resumeReceiving(_:)``, which the transport then carries out afterwards.
public protocol TransferDelegate: AnyObject {
    /// The transfer has left the admission queue and been given to the network.
    func transferDidStart(_ transfer: Transfer)
    /// A connection of the transfer's own stands, and the certificate at its other end was found good.
    func transferDidSecureConnection(_ transfer: Transfer)
    /// The head of the final response is complete; interim responses (1xx) are not told.
    func transfer(_ transfer: Transfer, didReceive head: ResponseHead)
    /// A piece of the body, decoded if the request asked for it, at most 16 KiB. The bytes are valid during the call only.
    func transfer(_ transfer: Transfer, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition
    /// So many bytes of the request's body have been taken by the network since the last call.
    func transfer(_ transfer: Transfer, didSendBodyBytes count: Int)
    /// The transfer is over; nothing follows. The error is `nil` if the response arrived whole, whatever its status.
    func transferDidComplete(_ transfer: Transfer, _ completion: TransferCompletion)
}

extension TransferDelegate {
    /// Does nothing.
    public func transferDidSecureConnection(_ transfer: Transfer) {}
}

/// What a delegate does with a piece of a body.
public enum BodyDisposition: Sendable {
    /// It has taken the bytes.
    case accept
    /// It has not taken them: they come again after ``Transport/resumeReceiving(_:)``.
    case pause
    /// It wants no more: the transfer ends with ``TransportError/Code/cancelled``.
    case stop
}

/// How a transfer ended.
public struct TransferCompletion {
    /// Why it failed; `nil` if the response arrived whole.
    public let error: TransportError?
    /// What it cost; also there when it failed.
    public let metrics: TransferMetrics

    /// Makes a completion.
    public init(error: TransportError?, metrics: TransferMetrics) {
        self.error = error
        self.metrics = metrics
    }
}

/// Whoever wants to know how many connections there are, and to where.
public protocol ConnectionObserver: AnyObject {
    /// A connection to an origin stands, TLS included. `id` names it in ``TransferMetrics/connection`` too; `user` is that of its
    /// ``ConnectionPartition``.
    func connectionDidOpen(_ id: Int, origin: Origin, user: UInt32?)
    /// The connection was closed after so many transfers.
    func connectionDidClose(_ id: Int, origin: Origin, user: UInt32?, transfers: Int)
}
