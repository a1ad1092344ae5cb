public import CarpoolHTTP

// The settings of connections, from the options of a request to a hop.
extension Session {
    /// Sets the properties that another request must share to use the connection of a hop. Some depend on its host, so
    /// that they are set for each hop.
    func setPartition(of hop: inout TransportRequest, for request: Request) throws(SessionError) {
        try setPartition(of: &hop, request.parameters.options)
    }

    func setPartition(of hop: inout TransportRequest, _ options: borrowing TransferOptions) throws(SessionError) {
        let origin = hop.url.origin
        if let refusal = options.proxy.value?.refusal(for: origin) { throw .sessionTaskFailed(refusal) }
        hop.partition = ConnectionPartition(user: user)
        if options.hasOwnConnectionSettings {
            hop.partition.settings = options.connectionSettings(for: origin)
        } else if configuration.options.hasOwnConnectionSettings {
            hop.partition.settings = inheritedSettings.settings(for: origin) {
                configuration.options.connectionSettings(for: origin)
            }
        }
    }
}

extension TransferOptions {
    /// The settings of a connection to an origin; `nil` for the defaults.
    public func connectionSettings(for origin: Origin) -> ConnectionSettings? {
        var values = ConnectionSettings.Values()
        values.trust = trust.value
        if let manager = serverTrustManager.value { values.trust.evaluator = manager.evaluator(for: origin) }
        values.tls = tls.value
        values.certificate = certificate.value
        values.addresses = addresses.value
        // Every connection is made to the socket.
        if addresses.value?.socket == nil { values.proxy = proxy.value?.proxy(for: origin) }
        return .make(values)
    }

    /// Whether a setting of connections was set here, rather than inherited.
    fileprivate var hasOwnConnectionSettings: Bool {
        trust.isGiven || serverTrustManager.isGiven || tls.isGiven || certificate.isGiven || addresses.isGiven
            || proxy.isGiven
    }
}
