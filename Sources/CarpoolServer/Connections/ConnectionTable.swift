internal import CarpoolSystem

/// The open connections, and the peers that are being rejected.
final class ConnectionTable: ConnectionOwner {
    let services: ConnectionServices
    let log: Log
    let quota = QuotaLedger()
    private let spool: Spool
    private var connections: [Int: Connection] = [:]
    /// How many peers have connected, and how many of them were rejected.
    var accepted = 0
    var refused = 0
    /// Rejected peers that have not disconnected yet.
    var rejected: [ObjectIdentifier: RejectedConnection] = [:]
    /// Sockets of rejected peers that a thread closes.
    var closingRejected = 0
    /// Called when a connection was opened or closed.
    var didChange: () -> Void = {}

    init(services: ConnectionServices, spool: Spool, log: Log) {
        self.services = services
        self.spool = spool
        self.log = log
        services.memory.inputDidGrow = { [unowned self] in makeRoomForInput() }
        services.memory.outputDidGrow = { [unowned self] in makeRoomForOutput() }
        services.callbacks.peer = { [unowned self] in connections[$0] }
        services.worker.onClosingChange = { [unowned self] in closingDidChange(of: $0) }
    }

    subscript(number: Int) -> Connection? {
        get { connections[number] }
        set { connections[number] = newValue }
    }

    var keys: Dictionary<Int, Connection>.Keys { connections.keys }
    var values: Dictionary<Int, Connection>.Values { connections.values }
    var count: Int { connections.count }
    var isEmpty: Bool { connections.isEmpty }
    var configuration: LiveConfiguration { services.configuration }

    /// Closes the connections of users whose role has changed: they connect again with the new one.
    func closeThoseWithOldRole() {
        for connection in connections.values where configuration.access.role(of: connection.uid) != connection.role {
            connection.beginClosing()
        }
    }

    /// Releases memory that the connections do not need.
    func shrink() {
        for connection in connections.values { connection.shrink() }
        services.buffers.releaseWriter()
    }

    /// Updates the connections of a user, which are not read from while too many descriptors of the user wait to be
    /// closed.
    func closingDidChange(of uid: UInt32) {
        for connection in connections.values where connection.uid == uid { connection.updateInterestOrClose() }
    }

    func connectionDidClose(_ connection: Connection) {
        connections[connection.number] = nil
        log.write(.debug, "disconnected", [("client", "c-\(connection.number)")])
        spool.endLeases(of: connection.number)
        didChange()
    }

    func connectionDidReleaseResources(_ connection: Connection) { spool.endLeases(of: connection.number) }

    // MARK: Memory

    /// Discards the oldest incomplete messages of the user who holds most, until all fit.
    func makeRoomForInput() {
        while let uid = services.memory.input.userOverLimit(services.limits.totalInputBytes) {
            // Messages that a thread reads are not discarded: they are done soon.
            let oldest = connections.values.filter { $0.uid == uid && $0.hasHalfMessage }
                .min { $0.inputSince < $1.inputSince }
            guard let oldest, oldest.discardMessage() else { return }
            log.write(
                .warning, "incomplete message discarded", [("client", "c-\(oldest.number)"), ("uid", String(uid))])
        }
    }

    /// Closes the connections that have not read for longest, of the user who holds most, when pausing their input is
    /// not enough.
    func makeRoomForOutput() {
        let limit = services.limits.totalUnreadBytes + services.limits.totalUnreadBytes / 4
        while services.memory.output.total > limit,
            let uid = services.memory.output.userOverLimit(services.limits.totalUnreadBytes)
        {
            let holders = connections.values.filter { $0.uid == uid && $0.held.output > 0 }
            // A connection whose batches wait may still read: it is closed last.
            let unread = holders.filter { $0.output.count > ConnectionMemory.shortOutputBytes }
            guard
                let stuck = (unread.isEmpty ? holders : unread).min(by: {
                    $0.lastOutputProgress < $1.lastOutputProgress
                })
            else {
                return
            }
            log.write(
                .warning, "connection closed: the client does not read its output",
                [
                    ("client", "c-\(stuck.number)"), ("uid", String(uid)), ("unread_bytes", String(stuck.unreadBytes)),
                ])
            stuck.close()
        }
    }
}
