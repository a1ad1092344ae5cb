internal import CarpoolHTTP

// The settings of connections, from the options of a request to a hop.
extension Session {
    /// Sets the properties that another request must share to use the connection of a hop. Some depend on its host, so
    /// that they are set for each hop.
    func setPartition(of hop: inout TransportRequest, for request: Request) {
        setPartition(of: &hop, request.parameters.options)
    }

    func setPartition(of hop: inout TransportRequest, _ options: borrowing TransferOptions) {
        var values = ConnectionSettings.Values()
        values.trust = options.trust.value
        if let manager = options.serverTrustManager.value {
            values.trust.evaluator = manager.evaluator(for: hop.url.origin)
        }
        values.tls = options.tls.value
        values.certificate = options.certificate.value
        values.addresses = options.addresses.value
        hop.partition = ConnectionPartition(settings: .make(values), user: user)
    }
}
