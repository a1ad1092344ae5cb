internal import CarpoolSystem
internal import Glibc

/// Every open socket to an origin, by its descriptor. A class, because libcurl's callbacks reach it through a pointer.
final class ConnectionTable {
    private let loop: EventLoop
    /// Indexed by descriptor; bounded by the process's limit of descriptors, as the kernel returns the lowest free
    /// number.
    private var slots: [OriginConnection?] = []
    /// Notified of openings and closings. Not a weak reference, which would make every use of the observer slower.
    var observer: (any ConnectionObserver)?
    /// Open sockets, those that are still connecting included.
    private(set) var count = 0
    /// Connections established since the start.
    private(set) var established = 0
    /// Connections that no transfer uses; the sweeper runs while there are any.
    private(set) var idle = 0
    /// Pools that have lost their last connection since the last maintenance.
    var emptyPools: [OriginPool] = []

    init(loop: EventLoop) { self.loop = loop }

    subscript(descriptor: Int32) -> OriginConnection? {
        let index = Int(descriptor)
        return slots.indices.contains(index) ? slots[index] : nil
    }

    /// The number of open sockets without those that were shut down. Counts them.
    var openCount: Int { slots.reduce(0) { $0 + ($1.map { $0.isShutDown ? 0 : 1 } ?? 0) } }

    /// All open sockets, in no order that matters.
    var all: [OriginConnection] { slots.compactMap { $0 } }

    /// Opens a close-on-exec socket as socket(2) does and returns its record; `nil` with `errno` if that fails.
    func open(
        family: Int32, type: Int32, protocol: Int32, pool: OriginPool, mark: ConnectionMark
    ) -> OriginConnection? {
        let descriptor = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), `protocol`)
        guard descriptor >= 0 else { return nil }
        if family != AF_UNIX {
            keepAlive(descriptor)
            if pool.key.origin.scheme == "http" {
                set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, ConnectionTable.unsentBytes)
            }
        }
        return add(descriptor, pool: pool, mark: mark)
    }

    /// Adds the record of an open socket.
    func add(_ descriptor: Int32, pool: OriginPool, mark: ConnectionMark = .first) -> OriginConnection {
        loop.forget(descriptor)
        let connection = OriginConnection(descriptor: descriptor, pool: pool, mark: mark)
        if let stale = self[descriptor] {
            // Older versions close an unconnected socket without a callback. If the next one gets the same number,
            // they also assume that its interest is registered already.
            discard(stale)
            if stale.pool.multi === pool.multi, !stale.interest.isEmpty {
                connection.interest = stale.interest
                loop.setInterest(stale.interest, for: descriptor, handler: pool.multi)
            }
        }
        while slots.count <= Int(descriptor) { slots.append(nil) }
        slots[Int(descriptor)] = connection
        count += 1
        pool.connections.append(connection)
        return connection
    }

    /// Removes a socket that did not connect. It is closed, or will be.
    func discard(_ connection: OriginConnection) {
        guard self[connection.descriptor] === connection else { return }
        slots[Int(connection.descriptor)] = nil
        remove(connection)
    }

    /// Closes a socket as close(2) does.
    func close(_ descriptor: Int32) -> Int32 {
        loop.forget(descriptor)
        if let connection = self[descriptor] {
            slots[Int(descriptor)] = nil
            remove(connection)
            if connection.negotiated != nil {
                observer?.connectionDidClose(
                    connection.id, origin: connection.pool.key.origin, user: connection.pool.user,
                    transfers: connection.transfers)
            }
        }
        return Glibc.close(descriptor)
    }

    private func remove(_ connection: OriginConnection) {
        count -= 1
        if connection.idleSince != nil { idle -= 1 }
        connection.relay?.end()
        let pool = connection.pool
        pool.connections.removeAll { $0 === connection }
        if pool.connections.isEmpty { emptyPools.append(pool) }
    }

    /// The socket is connected, and TLS negotiated if there is any.
    func establish(_ connection: OriginConnection, _ negotiated: OriginConnection.Negotiated) {
        established += 1
        connection.pool.userPools.countConnection()
        connection.establish(id: established, negotiated)
        observer?.connectionDidOpen(connection.id, origin: connection.pool.key.origin, user: connection.pool.user)
    }

    /// A transfer begins to use a connection.
    func acquire(_ connection: OriginConnection) {
        if connection.idleSince != nil { idle -= 1 }
        connection.acquire()
    }

    /// A transfer has stopped using a connection, which may be closed already.
    func release(_ connection: OriginConnection) {
        connection.release(at: loop.now)
        guard connection.idleSince != nil, self[connection.descriptor] === connection else { return }
        idle += 1
        guard connection.hasLongUserTimeout else { return }
        connection.hasLongUserTimeout = false
        setUserTimeout(of: connection.descriptor, milliseconds: ConnectionTable.userTimeoutMilliseconds)
    }

    /// Detects a peer that has vanished within a minute, also while its response is slow to come.
    private func keepAlive(_ descriptor: Int32) {
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
        setUserTimeout(of: descriptor, milliseconds: ConnectionTable.userTimeoutMilliseconds)
    }

    /// Maximum time that sent bytes stay unacknowledged; without this limit it is a quarter of an hour.
    private static let userTimeoutMilliseconds: Int32 = 30_000

    /// Bytes that the kernel buffers beyond the peer's window; up to 4 MiB otherwise. With more, sending waits until
    /// the peer reads, which costs a peer on this machine a tenth of its time. With TLS the encryption takes longer
    /// than that, and more wake-ups would only cost.
    private static let unsentBytes: Int32 = 262_144

    private func setUserTimeout(of descriptor: Int32, milliseconds: Int32) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, milliseconds)
    }

    /// Raises TCP_USER_TIMEOUT for a peer that is slow to read, until its last transfer leaves the connection.
    func raiseUserTimeout(_ connection: OriginConnection) {
        connection.hasLongUserTimeout = true
        setUserTimeout(of: connection.descriptor, milliseconds: 0)
    }

    private func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
