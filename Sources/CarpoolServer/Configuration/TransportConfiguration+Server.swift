internal import CarpoolHTTP

extension TransportConfiguration {
    /// The engine's part of the daemon's configuration.
    init(_ configuration: ServerConfiguration) {
        self.init()
        connectionsPerHost = configuration.limits.hostConnections
        connectionsPerHostAndClient = configuration.limits.hostConnectionsPerClient
        longConnectionsPerHost = configuration.limits.longHostConnections
        longConnectionsPerHostAndClient = configuration.limits.longHostConnectionsPerClient
        pausedTransfers = configuration.limits.pausedTransfers
        connections = configuration.limits.totalConnections
        streamsPerConnection = configuration.limits.streamsPerConnection
        queuedTransfers = configuration.limits.queuedRequests
        partitionsPerUser = configuration.limits.partitionsPerUser
        allowsHTTP2 = configuration.allowsHTTP2
    }
}
