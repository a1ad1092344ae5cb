internal import CarpoolHTTP

// The settings of connections, from the options of a request to a hop.
extension Session {
    /// Sets the properties that another request must share to use the connection of a hop. Some depend on its host, so
    /// that they are set for each hop.
    func setPartition(of hop: inout TransportRequest, for request: Request) {
        setPartition(of: &hop, request.parameters.options)
    }

    func setPartition(of hop: inout TransportRequest, _ options: borrowing TransferOptions) {
        let origin = hop.url.origin
        hop.partition = ConnectionPartition(user: user)
        if options.hasOwnConnectionSettings {
            hop.partition.settings = Session.connectionSettings(options, origin)
        } else if configuration.options.hasOwnConnectionSettings {
            hop.partition.settings = inheritedSettings.settings(for: origin) {
                Session.connectionSettings(configuration.options, origin)
            }
        }
    }

    private static func connectionSettings(
        _ options: borrowing TransferOptions, _ origin: Origin
    ) -> ConnectionSettings? {
        var values = ConnectionSettings.Values()
        values.trust = options.trust.value
        if let manager = options.serverTrustManager.value { values.trust.evaluator = manager.evaluator(for: origin) }
        values.tls = options.tls.value
        values.certificate = options.certificate.value
        values.addresses = options.addresses.value
        return .make(values)
    }
}

extension TransferOptions {
    /// Whether a setting of connections was set here, rather than inherited.
    fileprivate var hasOwnConnectionSettings: Bool {
        trust.isGiven || serverTrustManager.isGiven || tls.isGiven || certificate.isGiven || addresses.isGiven
    }
}
