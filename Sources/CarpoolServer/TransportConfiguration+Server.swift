internal import CarpoolHTTP

extension TransportConfiguration {
    /// The engine's part of the daemon's configuration.
    init(_ configuration: ServerConfiguration) {
        self.init()
        connectionsPerHost = configuration.limits.hostConnections
        longConnectionsPerHost = configuration.limits.longHostConnections
        heldUpTransfers = configuration.limits.heldUpTransfers
        connections = configuration.limits.totalConnections
        streamsPerConnection = configuration.limits.streamsPerConnection
        queuedTransfers = configuration.limits.queuedRequests
        allowsHTTP2 = configuration.allowsHTTP2
    }
}
