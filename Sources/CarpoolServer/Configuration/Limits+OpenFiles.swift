internal import CarpoolSystem

// The limits of what costs a descriptor.
extension Limits {
    /// Descriptors that are neither clients' nor origins': the log, the spool, timers, files that are being read. With
    /// few in all, half of them.
    private static let ownFiles = 64

    /// Lowers the limits of what costs a descriptor, so that all of it together fits the number of files that may be
    /// open (RLIMIT_NOFILE): clients, connections to origins, paused transfers and raw streams have a quarter each of
    /// what the daemon does not need itself.
    mutating func fit(openFiles: Int?) {
        guard let openFiles else { return }
        let room = max(1, (openFiles - min(Limits.ownFiles, openFiles / 2)) / 4)
        totalConnections = min(totalConnections, room)
        pausedTransfers = min(pausedTransfers, room)
        rawStreams = min(rawStreams, room)
        guard room < connections else { return }
        connections = room
        connectionsPerUser = min(connectionsPerUser, connections)
        // Fewer than its user's, so that other programs can connect.
        connectionsPerClient = min(connectionsPerClient, max(1, connectionsPerUser - max(1, connectionsPerUser / 16)))
    }
}
