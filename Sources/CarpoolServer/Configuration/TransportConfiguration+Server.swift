internal import CarpoolHTTP
internal import CarpoolSystem

extension TransportConfiguration {
    /// The engine's part of the daemon's configuration.
    init(_ configuration: ServerConfiguration) {
        self.init()
        connectionsPerHost = configuration.limits.hostConnections
        connectionsPerHostAndClient = configuration.limits.hostConnectionsPerClient
        longConnectionsPerHost = configuration.limits.longHostConnections
        longConnectionsPerHostAndClient = configuration.limits.longHostConnectionsPerClient
        let room = TransportConfiguration.connections(of: ResourceLimits.openFiles)
        pausedTransfers = min(configuration.limits.pausedTransfers, room)
        connections = min(configuration.limits.totalConnections, room)
        streamsPerConnection = configuration.limits.streamsPerConnection
        queuedTransfers = configuration.limits.queuedRequests
        partitionsPerUser = configuration.limits.partitionsPerUser
        allowsHTTP2 = configuration.allowsHTTP2
    }

    /// Descriptors that are neither clients' nor origins': the log, the spool, timers, files that are being read.
    private static let ownFiles = 64

    /// Maximum connections to origins, without paused ones, for a limit of open files: a third of those that the daemon
    /// does not need itself, so that as many are left for clients.
    static func connections(of openFiles: Int?) -> Int {
        openFiles.map { max(1, ($0 - ownFiles) / 3) } ?? .max
    }
}
